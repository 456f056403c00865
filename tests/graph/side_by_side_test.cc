// Independent branches of one step on several threads: that they run at once, give the same bits, share no
// memory, and that errors, cancellation, variables and conditionals are as on one thread.
#include "graph/runtime/side_by_side.h"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include "graph/runtime/session.h"
#include "ops/arithmetic_ops.h"
#include "ops/array_ops.h"
#include "ops/control_flow_ops.h"
#include "ops/math_ops.h"
#include "ops/nn_ops.h"
#include "ops/reduction_ops.h"
#include "ops/state_ops.h"
#include "ops/variable_init.h"
#include "ops/variables.h"

using namespace runnel;

namespace {

// TestWork adds 1 and claims to take a millisecond. What is set here for its number runs before it.
std::map<std::int64_t, std::function<void(Context&)>>& hooks() {
  static std::map<std::int64_t, std::function<void(Context&)>> all;
  return all;
}

const OpRegistration kWork{{.name = "TestWork",
                            .inputs = {"x: float"},
                            .outputs = {"y: float"},
                            .attrs = {"number: int = 0"},
                            .shape = same_shape,
                            .gradient = Gradient::none("a test")}};
const KernelRegistration kWorkKernel{"TestWork",
                                     any,
                                     [](Bind& b) {
                                       b.costs(1e6);
                                       b.run([n = b.input("x").shape.elements(), number = b.integer("number"),
                                              x = b.in<float>("x"), y = b.out<float>("y")](Context& c) {
                                         const auto hook = hooks().find(number);
                                         if (hook != hooks().end()) hook->second(c);
                                         for (std::int64_t i = 0; i < n; ++i) c[y][i] = c[x][i] + 1;
                                       });
                                     },
                                     {.in_place = true}};

Output work(const Output& x, std::int64_t number) {
  return x.graph().add("TestWork", {x}, {{"number", number}}, cat("work", number)).output(0);
}

// Threads that meet; gives up after a while, so that a test that fails ends.
class Meeting {
 public:
  void arrive() {
    std::lock_guard hold(mutex_);
    ++arrived_;
    changed_.notify_all();
  }
  bool wait_for(int count) {
    std::unique_lock hold(mutex_);
    return changed_.wait_for(hold, std::chrono::seconds(20), [&] { return arrived_ >= count; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int arrived_ = 0;
};

// Two branches of two pieces of work each, 1 and 2, 3 and 4, over a value that the step computes.
struct Branches {
  Graph g;
  Output x = placeholder<float>(g, {kUnknown}, "x");
  Output start = x * 2.0f;
  Output a = work(work(start, 1), 2), b = work(work(start, 3), 4);
  Output sum = a * 1000.0f + b;
  Tensor ones = Tensor::vector(std::vector<float>(64, 1.0f));
  Branches() { hooks().clear(); }
  ~Branches() { hooks().clear(); }
};

SessionOptions threads(int kernels, int chains) {
  return {.intra_op_parallelism_threads = kernels, .inter_op_parallelism_threads = chains};
}

Tensor ramp(const Shape& shape) {
  Tensor out(DType::kFloat, shape);
  std::int64_t i = 0;
  for (float& value : out.mutable_values<float>()) value = static_cast<float>(i++ * 37 % 101) * 0.02f - 1;
  return out;
}

bool in_chains(Session& session, const Fetch& fetch, const std::vector<Feed>& feeds) {
  return session.describe(std::span(&fetch, 1), feeds).find("side by side") != std::string::npos;
}

}  // namespace

TEST_CASE("independent branches run at the same time on two threads") {
  Branches t;
  Meeting meeting;
  int met = 0;
  std::mutex mutex;
  for (const int number : {1, 3})
    hooks()[number] = [&](Context&) {
      meeting.arrive();
      const bool both = meeting.wait_for(2);
      std::lock_guard hold(mutex);
      met += both;
    };
  Session session(t.g, threads(1, 2));
  CHECK(session.run(t.sum, {{t.x, t.ones}}).values<float>()[63] == 4004);
  CHECK(met == 2);
}

TEST_CASE("with one thread, and in graphs too small for one more, no chains are made") {
  Branches t;
  Session one(t.g, threads(2, 1)), none(t.g, threads(1, -1)), two(t.g, threads(1, 2));
  CHECK_FALSE(in_chains(one, t.sum, {{t.x, t.ones}}));
  CHECK_FALSE(in_chains(none, t.sum, {{t.x, t.ones}}));
  CHECK(in_chains(two, t.sum, {{t.x, t.ones}}));
  const Output small = (t.x + 1.0f) * (t.x + 2.0f);
  CHECK_FALSE(in_chains(two, small, {{t.x, t.ones}}));
}

TEST_CASE("a chain's memory is not another's while they run, whichever is ahead") {
  for (const std::int64_t waits : {1, 2, 3, 4, 5, 6}) {
    Branches t;
    const Output a = work(work(work(t.start, 1), 2), 3), b = work(work(work(t.start, 4), 5), 6);
    const Output sum = a * 1000.0f + b;
    Meeting meeting;  // `waits` of one branch begins when the last of the other does
    hooks()[waits <= 3 ? 6 : 3] = [&](Context&) { meeting.arrive(); };
    hooks()[waits] = [&](Context&) { CHECK(meeting.wait_for(1)); };
    Session session(t.g, threads(1, 2));
    for (int step = 0; step < 2; ++step)
      for (const float value : session.run(sum, {{t.x, t.ones}}).values<float>()) CHECK(value == 5005);
  }
}

TEST_CASE("training gives the same bits for every number of threads") {
  Graph g;
  const Output x = placeholder<float>(g, {300, 64}, "x");
  const Variable w = variable(g, ramp({64, 200}), "w"), v = variable(g, ramp({64, 200}), "v");
  const Output a = relu(matmul(x, w)), b = relu(matmul(x * 0.5f, v));
  const Output step_w = assign_sub(w, matmul(x, a, {.transpose_a = true}) * 1e-5f);
  const Output step_v = assign_sub(v, matmul(x, b + a, {.transpose_a = true}) * 1e-5f);
  const Operation step = group({Operation(step_w.node()), Operation(step_v.node())});
  const std::vector<Feed> feeds{{x, ramp({300, 64})}};
  std::vector<Tensor> expected;
  for (const auto& [kernels, chains] : {std::pair(1, 1), {1, 2}, {2, 2}, {4, 3}}) {
    Session session(g, threads(kernels, chains));
    session.run(initialize_global_variables(g));
    CHECK(in_chains(session, step, feeds) == (chains > 1));
    for (int i = 0; i < 5; ++i) session.run(step, {feeds[0]});
    const std::vector<Tensor> values{session.run(w), session.run(v)};
    if (expected.empty()) expected = values;
    CHECK(values == expected);
  }
}

TEST_CASE("of two errors the one is thrown that one thread would have met") {
  Branches t;
  Meeting failed;
  hooks()[2] = [&](Context&) {
    CHECK(failed.wait_for(1));
    throw OutOfRange("the first");
  };
  hooks()[3] = [&](Context&) {
    failed.arrive();
    throw InvalidArgument("the second");
  };
  bool went_on = false;
  hooks()[4] = [&](Context&) { went_on = true; };
  Session session(t.g, threads(1, 2));
  CHECK_THROWS_WITH_AS(session.run(t.sum, {{t.x, t.ones}}), "TestWork 'work2': the first", OutOfRange);
  CHECK_FALSE(went_on);
  hooks().clear();
  CHECK(session.run(t.sum, {{t.x, t.ones}}).values<float>()[0] == 4004);
}

TEST_CASE("cancelling stops every chain before its next piece of work") {
  Branches t;
  const CancellationToken token;
  Meeting cancelled;
  hooks()[1] = [&](Context&) {
    token.cancel();
    cancelled.arrive();
  };
  hooks()[3] = [&](Context&) { CHECK(cancelled.wait_for(1)); };
  std::atomic<int> later{0};
  hooks()[2] = hooks()[4] = [&](Context&) { ++later; };
  Session session(t.g, threads(1, 2));
  CHECK_THROWS_AS(session.run(t.sum, {{t.x, t.ones}}, {.cancellation = &token}), Cancelled);
  CHECK(later == 0);
}

TEST_CASE("a chain that is over the deadline ends the step") {
  Branches t;
  hooks()[3] = [](Context& c) {
    while (!c.cancelled()) std::this_thread::yield();
  };
  Session session(t.g, threads(1, 2));
  CHECK_THROWS_AS(session.run(t.sum, {{t.x, t.ones}}, {.timeout_in_ms = 5}), DeadlineExceeded);
}

TEST_CASE("a kernel inside a chain may share its ranges with other threads") {
  Branches t;
  std::atomic<int> ranges{0};
  for (const int number : {1, 2, 3, 4})
    hooks()[number] = [&](Context& c) { c.parallel(100, 1, [&](std::int64_t, std::int64_t) { ++ranges; }); };
  Session session(t.g, threads(3, 2));
  for (int step = 0; step < 50; ++step) session.run(t.sum, {{t.x, t.ones}});
  CHECK(ranges == 50 * 400);
}

TEST_CASE("reads and writes of a variable stay in their order, and other variables' chains do not wait") {
  Branches t;
  const Variable v = variable(t.g, 1.0f, "v"), w = variable(t.g, 1.0f, "w");
  const Output before = v * 1.0f;  // sees no write
  const Output write_v = assign_add(v, reduce_sum(work(t.start, 5)));
  const Output write_w = assign(w, reduce_sum(work(before, 6)));
  Session session(t.g, threads(1, 2));
  session.run(initialize_global_variables(t.g));
  const std::vector<Fetch> fetches{write_v, write_w, before, t.sum};
  CHECK(session.describe(fetches, std::vector<Feed>{{t.x, t.ones}}).find("side by side") !=
        std::string::npos);
  float sum = 1;
  for (int step = 0; step < 3; ++step) {
    const std::vector<Tensor> got = session.run(fetches, {{t.x, t.ones}});
    CHECK(got[2].scalar<float>() == sum);
    CHECK(got[1].scalar<float>() == sum + 1);
    CHECK(got[0].scalar<float>() == (sum += 64 * 3));
  }
}

TEST_CASE("what a control edge through a constant orders is in one chain") {
  Branches t;
  const Variable v = variable(t.g, 0.0f, "v");
  hooks()[5] = [](Context&) { throw OutOfRange("refused"); };
  const Output check = work(t.start, 5), other = work(t.start, 6);
  const Variable seen = variable(t.g, Tensor::zeros(DType::kFloat, {64}), "seen");
  const Output note = assign(seen, check);
  Output one;
  {
    ControlDependencies after(t.g, {Operation(note.node())});
    one = constant(t.g, Tensor::scalar(1.0f)) + 1.0f;
  }
  const Output write = assign_add(v, reduce_sum(work(one, 7)));
  Session session(t.g, threads(1, 2));
  session.run(initialize_global_variables(t.g));
  const std::vector<Fetch> fetches{write, other, t.sum};
  CHECK_THROWS_AS(session.run(fetches, {{t.x, t.ones}}), OutOfRange);
  CHECK(session.run(v).scalar<float>() == 0);
}

TEST_CASE("conditionals and steps that are bound late run by themselves") {
  Branches t;
  const Output predicate = placeholder<bool>(t.g, {}, "predicate");
  const Node& fork = t.g.add("Switch", {t.start, predicate});
  const Output off = work(fork.output(0), 5), on = work(work(fork.output(1), 6), 7);
  const Output merged = t.g.add("Merge", {Outputs{off, on}}).output(0);
  Session session(t.g, threads(1, 2));
  for (const bool choice : {false, true}) {
    const std::vector<Feed> feeds{{t.x, t.ones}, {predicate, Tensor::scalar(choice)}};
    CHECK_FALSE(in_chains(session, merged, feeds));
    CHECK(session.run(merged, {feeds[0], feeds[1]}).values<float>()[0] == (choice ? 4 : 3));
  }
  for (std::size_t n = 1; n < 12; ++n)  // the last of these run on a plan without shapes
    CHECK(session.run(t.sum, {{t.x, Tensor::vector(std::vector<float>(n, 1.0f))}}).values<float>()[n - 1] ==
          4004);
}
