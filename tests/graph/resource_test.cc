// Resources behind handles, as queues and readers have them: who shares one, who finds it, what is refused;
// shares of a session; and stopping all that waits. The ops here are a mailbox of tensors.
#include <doctest/doctest.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <thread>

#include "graph/kernel.h"
#include "graph/runtime/session.h"
#include "ops/arithmetic_ops.h"
#include "ops/array_ops.h"
#include "ops/control_flow_ops.h"
#include "ops/state_ops.h"
#include "ops/variable_init.h"
#include "ops/variables.h"
#include "tests/graph/thrown.h"
#include "tests/graph/until.h"

using namespace runnel;

namespace {

struct Box : NodeState {
  static constexpr const char* kKind = "box";
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Tensor> tensors;
  std::vector<std::shared_ptr<Waker>> waiting;
  int parked = 0, dropped = 0;

  void wait_until_parked() {
    std::unique_lock hold(mutex);
    changed.wait(hold, [&] { return parked > 0; });
  }
};

// The box that was bound last, for tests to look into.
std::atomic<Box*>& last_box() {
  static std::atomic<Box*> box{nullptr};
  return box;
}

struct Waits : Parked {
  explicit Waits(std::shared_ptr<Box> b) : box(std::move(b)) {}
  ~Waits() override {
    std::lock_guard hold(box->mutex);
    ++box->dropped;
  }
  std::string cancelled() const override { return "Take was cancelled"; }
  const std::shared_ptr<Box> box;
};

bool take(Box& box, const std::shared_ptr<Box>& shared, Out<float> y, Context& c) {
  std::unique_lock hold(box.mutex);
  if (box.tensors.empty()) {
    hold.unlock();
    if (!c.parked()) c.parked() = std::make_shared<Waits>(shared);
    hold.lock();
    box.waiting.push_back(c.waker());
    ++box.parked;
    box.changed.notify_all();
    return false;
  }
  c.set_output(y.slot, box.tensors.front());
  box.tensors.pop_front();
  return true;
}

void put(Box& box, Tensor tensor) {
  std::lock_guard hold(box.mutex);
  box.tensors.push_back(std::move(tensor));
  for (const auto& waker : box.waiting) waker->wake();
  box.waiting.clear();
}

const char* const kNames[] = {"container: string = ''", "shared_name: string = ''"};
const OpRegistration kBox{{.name = "TestBox",
                           .inputs = {},
                           .outputs = {"handle: resource"},
                           .attrs = {kNames[0], kNames[1]},
                           .shape = scalar_shape,
                           .gradient = Gradient::none("a test"),
                           .traits = {.stateful = true}}};
const KernelRegistration kBoxKernel{"TestBox", any, [](Bind& b) {
                                      last_box() =
                                          b.make_resource<Box>([] { return std::make_shared<Box>(); }).get();
                                      b.run([](Context&) {});
                                    }};
struct Lid : NodeState {};
const OpRegistration kLid{{.name = "TestLid",
                           .inputs = {},
                           .outputs = {"handle: resource"},
                           .attrs = {},
                           .shape = scalar_shape,
                           .gradient = Gradient::none("a test"),
                           .traits = {.stateful = true}}};
const KernelRegistration kLidKernel{"TestLid", any, [](Bind& b) {
                                      b.make_resource<Lid>([] { return std::make_shared<Lid>(); });
                                      b.run([](Context&) {});
                                    }};
const OpRegistration kTakeOut{{.name = "TestTakeOut",
                               .inputs = {"handle: resource"},
                               .outputs = {"y: float"},
                               .attrs = {},
                               .shape = unknown_shapes,
                               .gradient = Gradient::none("a test"),
                               .traits = {.stateful = true, .may_park = true}}};
const KernelRegistration kTakeOutKernel{"TestTakeOut", any, [](Bind& b) {
                                          b.run([box = b.resource<Box>("handle"), y = b.out<float>("y")](
                                                    Context& c) -> bool { return take(*box, box, y, c); });
                                        }};
const OpRegistration kPutIn{{.name = "TestPutIn",
                             .inputs = {"handle: resource", "x: float"},
                             .outputs = {},
                             .attrs = {},
                             .shape = no_shapes,
                             .gradient = Gradient::none("a test"),
                             .traits = {.stateful = true, .may_park = true}}};
const KernelRegistration kPutInKernel{
    "TestPutIn", any, [](Bind& b) {
      b.run([box = b.resource<Box>("handle"), x = b.in<float>("x")](Context& c) -> bool {
        put(*box, c.tensor(x.slot));
        return true;
      });
    }};

Output box(Graph& g, std::string shared_name = "", std::string name = "box") {
  return g.add("TestBox", {}, {{"shared_name", shared_name}}, name);
}
Operation put_in(Output handle, Output x) { return Operation(x.graph().add("TestPutIn", {handle, x})); }
Output take_out(Output handle) { return handle.graph().add("TestTakeOut", {handle}); }

}  // namespace

TEST_CASE("nodes that see one handle share its resource, through an identity too, and one session's only") {
  Graph g;
  const Output handle = box(g);
  const Operation put = put_in(handle, constant(g, Tensor::scalar(3.0f)));
  const Output taken = take_out(identity(handle));
  Session one(g), other(g);
  one.run(put);
  CHECK(one.run(taken).scalar<float>() == 3);
  one.run(put);
  CHECK_THROWS_AS(other.run(taken, {}, {.timeout_in_ms = 1}), DeadlineExceeded);
}

TEST_CASE("a shared_name makes two nodes one resource, and two names two") {
  Graph g;
  const Operation put = put_in(box(g, "common", "a"), constant(g, Tensor::scalar(3.0f)));
  const Output taken = take_out(box(g, "common", "b")), elsewhere = take_out(box(g, "", "c"));
  Session session(g);
  session.run(put);
  CHECK_THROWS_AS(session.run(elsewhere, {}, {.timeout_in_ms = 1}), DeadlineExceeded);
  CHECK(session.run(taken).scalar<float>() == 3);
}

TEST_CASE("a handle of something else is refused with the node that makes it") {
  Graph g;
  const Output taken = g.add("TestTakeOut", {g.add("TestLid", {}, {}, "lid")}, {}, "taken");
  Session session(g);
  CHECK_THROWS_WITH_AS(session.run(taken),
                       "TestTakeOut 'taken': handle is made by TestLid 'lid', which makes no box",
                       InvalidArgument);
}

TEST_CASE(
    "shapes may be told late, by a tensor of another shape each time, before and behind the waiting op") {
  Graph g;
  const Output handle = box(g), second = box(g, "", "second");
  const Output x = placeholder<float>(g, {kUnknown}, "x");
  const Output on = take_out(handle) + 1.0f;
  const Operation forward = put_in(second, on);
  const Output y = take_out(second) * 2.0f;
  Session session(g);
  for (const std::vector<float>& in :
       {std::vector<float>{1}, std::vector<float>{1, 2}, std::vector<float>{}}) {
    session.run(put_in(handle, x), {{x, Tensor::vector(in)}});
    std::vector<float> out;
    for (const float v : in) out.push_back(2 * (v + 1));
    const auto [taken, none] = session.run({y, forward});
    CHECK(taken == Tensor::vector(out));
  }
}

TEST_CASE("what a parked kernel left is dropped when its step takes too long, with a text that names it") {
  Graph g;
  const Output handle = box(g);
  const Output taken = g.add("TestTakeOut", {handle}, {}, "taken");
  Session session(g);
  session.run(Operation(handle.node()));  // makes the box
  const Box& made = *last_box().load();
  std::string what;
  for (std::int64_t ms = 1; made.parked == 0; ms *= 2)  // on a busy machine the time is over before it parks
    what = what_of([&] { session.run(taken, {}, {.timeout_in_ms = ms}); });
  CHECK(what == "TestTakeOut 'taken': the step took longer than its timeout_in_ms allows");
  CHECK(made.dropped == 1);
}

TEST_CASE("stop_waiting ends a step that waits and refuses the next, but not one that need not wait") {
  Graph g;
  const Output handle = box(g);
  const Output taken = g.add("TestTakeOut", {handle}, {}, "taken");
  const Operation put = put_in(handle, constant(g, Tensor::scalar(3.0f)));
  Session session(g);
  std::jthread waits([&] {
    CHECK_THROWS_WITH_AS(session.run(taken), "TestTakeOut 'taken': Take was cancelled: enough for today",
                         Cancelled);
  });
  session.run(Operation(handle.node()));  // makes the box
  last_box().load()->wait_until_parked();
  session.stop_waiting("enough for today");
  waits.join();
  CHECK_THROWS_AS(session.run(taken), Cancelled);
  const auto [value, none] = session.run({taken, put});
  CHECK(value.scalar<float>() == 3);
  session.resume_waiting();
  CHECK_THROWS_AS(session.run(taken, {}, {.timeout_in_ms = 1}), DeadlineExceeded);
}

TEST_CASE(
    "a share runs after the session is gone and says that it is closed, and its own end closes nothing") {
  Graph g;
  const Output one = constant(g, Tensor::scalar(1.0f));
  auto session = std::make_unique<Session>(g);
  session->share().reset();
  CHECK(session->run(one).scalar<float>() == 1);
  const std::shared_ptr<Session> share = session->share();
  CHECK(share->run(one).scalar<float>() == 1);
  session.reset();
  CHECK(share->closed());
  CHECK_THROWS_AS(share->run(one), FailedPrecondition);
}

TEST_CASE(
    "a write before a waiting op keeps what was fetched, and a read without a path sees the value before") {
  Graph g;
  const Output handle = box(g);
  const Variable v = variable(g, 1.0f, "v");
  const Output bumped = assign_add(v, 10.0f);
  const Operation put = put_in(handle, bumped + 0.0f);
  const Output unordered = v.value() * 1.0f;
  const Operation init = initialize_global_variables(g);
  Session session(g);
  session.run(init);
  const Tensor before = session.run(v);
  const auto [seen, none] = session.run({unordered, put});
  CHECK(before.scalar<float>() == 1);
  CHECK(seen.scalar<float>() == 1);
  CHECK(session.get<float>(v) == 11);
}

TEST_CASE("an op that waits may stand behind a switch, and does not wait on the side not taken") {
  Graph g;
  const Output handle = box(g);
  const Output p = placeholder<bool>(g, {}, "p");
  const Output x = constant(g, Tensor::scalar(1.0f));
  const Node& sides = g.add("Switch", {x, p});
  Output taken;
  {
    const ControlDependencies after(g, {Operation(g.add("Identity", {sides.output(1)}))});
    taken = take_out(handle);
  }
  const Output y = g.add("Merge", {Outputs{sides.output(0), taken}}).output(0);
  Session session(g);
  CHECK(session.run(y, {{p, Tensor::scalar(false)}}).scalar<float>() == 1);
  CHECK_THROWS_AS(session.run(y, {{p, Tensor::scalar(true)}}, {.timeout_in_ms = 1}), DeadlineExceeded);
  session.run(put_in(handle, constant(g, Tensor::scalar(7.0f))));
  CHECK(session.run(y, {{p, Tensor::scalar(true)}}).scalar<float>() == 7);
}

TEST_CASE("a step that waited while a variable took another shape is not begun anew, since it took effect") {
  Graph g;
  const Output handle = box(g), x = placeholder<float>(g, Shape::unknown(), "x");
  const Variable v = variable(x, "v", {.validate_shape = false});
  const Output sum = v.value() + take_out(handle);
  const Operation init = initialize_global_variables(g);
  Session session(g);
  session.run(init, {{x, Tensor::vector<float>({1, 2})}});
  last_box() = nullptr;
  std::jthread waits([&] { CHECK_THROWS_AS(session.run(sum), Aborted); });
  until([] { return last_box().load() != nullptr; });
  last_box().load()->wait_until_parked();
  session.run(init, {{x, Tensor::vector<float>({1, 2, 3})}});
  session.run(put_in(handle, constant(g, Tensor::scalar(1.0f))));
  waits.join();
  session.run(put_in(handle, constant(g, Tensor::scalar(1.0f))));
  CHECK(session.run(sum) == Tensor::vector<float>({2, 3, 4}));
}
