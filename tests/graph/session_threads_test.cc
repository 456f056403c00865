// Steps from many threads at once, closing meanwhile, and the intra-op pool (run under TSan too).
#include <doctest/doctest.h>

#include <atomic>
#include <thread>

#include "graph/error.h"
#include "graph/log.h"
#include "graph/runtime/session.h"
#include "graph/runtime/thread_pool.h"
#include "ops/arithmetic_ops.h"
#include "ops/array_ops.h"
#include "ops/reduction_ops.h"
#include "ops/state_ops.h"
#include "ops/variable_init.h"
#include "ops/variables.h"
#include "tests/graph/no_threads.h"
#include "tests/graph/until.h"

using namespace runnel;

namespace {

void on_threads(int count, const std::function<void(int)>& body) {
  std::vector<std::jthread> threads;
  for (int t = 0; t < count; ++t) threads.emplace_back([&body, t] { body(t); });
  for (std::jthread& thread : threads) thread.join();
}

}  // namespace

TEST_CASE("updates of one variable from many threads are all counted") {
  Graph g;
  const Variable v = variable(g, 0.0f, "v");
  const Operation bump(assign_add(v, 1.0f).node());
  Session session(g);
  session.run(initialize_global_variables(g));
  on_threads(4, [&](int) {
    for (int i = 0; i < 500; ++i) session.run(bump);
  });
  CHECK(session.run(v).scalar<float>() == 2000);
}

TEST_CASE("where no thread can be had a session runs on the caller's, says so once, and gives the same") {
  Graph g;
  const Output sum = reduce_sum(constant(g, Tensor::zeros(DType::kFloat, {1 << 20})) + 0.1f);
  std::vector<std::string> lines;
  ScopedLogSink sink([&](LogLevel, const std::string& line) { lines.push_back(line); });
  const Tensor expected = Session(g, {.intra_op_parallelism_threads = 8}).run(sum);
  REQUIRE(lines.empty());
  const NoThreads none;
  Session session(g, {.intra_op_parallelism_threads = 8});
  CHECK(session.run(sum) == expected);
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].find("a session goes on with 0 of 7 threads besides the caller's") != std::string::npos);
}

TEST_CASE("a snapshot never sees half a step") {
  Graph g;
  const Variable a = variable(g, 0.0f, "a"), b = variable(g, 0.0f, "b");
  const Operation both =
      group({Operation(assign_add(a, 1.0f).node()), Operation(assign_add(b, 1.0f).node())});
  Session session(g);
  session.run(initialize_global_variables(g));
  const std::jthread writer([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) session.run(both);
  });
  const std::vector<Variable> variables{a, b};
  for (int i = 0; i < 300; ++i) {
    const std::vector<Tensor> cut = session.snapshot(variables);
    CHECK(cut[0].scalar<float>() == cut[1].scalar<float>());
  }
}

TEST_CASE("the same request from many threads gives each its own values") {
  Graph g;
  const Output x = placeholder<float>(g, {kUnknown}, "x");
  const Output y = reduce_sum(x * 2.0f);
  Session session(g);
  std::atomic<int> wrong{0};
  on_threads(4, [&](int t) {
    for (int i = 0; i < 200; ++i) {
      const Tensor fed =
          Tensor::vector(std::vector<float>(static_cast<std::size_t>(t + 1), static_cast<float>(i)));
      if (session.run(y, {{x, fed}}).scalar<float>() != 2.0f * static_cast<float>((t + 1) * i)) ++wrong;
    }
  });
  CHECK(wrong == 0);
}

TEST_CASE("closing while threads run lets each end with a value or an error") {
  for (int round = 0; round < 20; ++round) {
    Graph g;
    const Variable v = variable(g, 0.0f, "v");
    const Operation init = initialize_global_variables(g);
    const Operation bump(assign_add(v, 1.0f).node());
    Session session(g);
    session.run(init);
    std::atomic<int> started{0};
    std::jthread closer([&] {
      until([&] { return started == 4; });
      session.close();
    });
    on_threads(4, [&](int) {
      ++started;
      try {
        for (;;) session.run(bump);
      } catch (const Error& error) {
        CHECK((error.code() == Code::kFailedPrecondition || error.code() == Code::kCancelled));
      }
    });
    closer.join();
  }
}

TEST_CASE("the pool covers every element once and passes on the first error") {
  ThreadPool pool(3);
  std::vector<std::atomic<int>> seen(1000);
  pool.for_ranges(1000, 7, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) ++seen[static_cast<std::size_t>(i)];
  });
  for (const auto& count : seen) CHECK(count == 1);
  CHECK_THROWS_AS(pool.for_ranges(1000, 7,
                                  [](std::int64_t begin, std::int64_t) {
                                    if (begin >= 490) throw OutOfRange("stop");
                                  }),
                  OutOfRange);
}

TEST_CASE("large sums give the same bits on one thread and on many") {
  Graph g;
  const Output x = placeholder<float>(g, {kUnknown}, "x");
  const Output y = reduce_sum(x * 0.1f);
  std::vector<float> values(300000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 1013) * 0.37f;
  const Tensor fed = Tensor::vector(values);
  Session one(g, {.intra_op_parallelism_threads = 1}), many(g, {.intra_op_parallelism_threads = 4});
  CHECK(one.run(y, {{x, fed}}) == many.run(y, {{x, fed}}));
}
