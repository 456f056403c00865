// Kernels that park: woken, cancelled, over their deadline, closed; and what they never block.
#include <doctest/doctest.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "graph/kernel.h"
#include "graph/runtime/session.h"
#include "ops/arithmetic_ops.h"
#include "ops/array_ops.h"
#include "ops/state_ops.h"
#include "ops/variable_init.h"
#include "ops/variables.h"

using namespace runnel;

namespace {

// A mailbox per program: TestTake parks until there is a number, TestPut leaves one.
struct Mailbox {
  std::mutex mutex;
  std::condition_variable parked_changed;
  std::deque<float> numbers;
  std::vector<std::shared_ptr<Waker>> waiting;
  int parked = 0;

  void put(float number) {
    std::lock_guard hold(mutex);
    numbers.push_back(number);
    for (const auto& waker : waiting) waker->wake();
    waiting.clear();
  }
  bool take(float& out, Context& c) {
    std::lock_guard hold(mutex);
    if (numbers.empty()) {
      waiting.push_back(c.waker());
      ++parked;
      parked_changed.notify_all();
      return false;
    }
    out = numbers.front();
    numbers.pop_front();
    return true;
  }
  void wait_until_parked() {
    std::unique_lock hold(mutex);
    parked_changed.wait(hold, [&] { return parked > 0; });
  }
  void clear() {
    std::lock_guard hold(mutex);
    numbers.clear();
    waiting.clear();
    parked = 0;
  }
};
Mailbox& mailbox() {
  static Mailbox box;
  return box;
}

const OpRegistration kTake{{.name = "TestTake",
                            .inputs = {},
                            .outputs = {"y: float"},
                            .attrs = {},
                            .shape = scalar_shape,
                            .gradient = Gradient::none("a test"),
                            .traits = {.stateful = true, .may_park = true}}};
const KernelRegistration kTakeKernel{
    "TestTake", any,
    [](Bind& b) { b.run([y = b.out<float>("y")](Context& c) -> bool { return mailbox().take(*c[y], c); }); }};
const OpRegistration kPut{{.name = "TestPut",
                           .inputs = {"x: float"},
                           .outputs = {},
                           .attrs = {},
                           .shape = no_shapes,
                           .gradient = Gradient::none("a test"),
                           .traits = {.stateful = true, .may_park = true}}};
const KernelRegistration kPutKernel{"TestPut", any, [](Bind& b) {
                                      b.run([x = b.in<float>("x")](Context& c) -> bool {
                                        mailbox().put(*c[x]);
                                        return true;
                                      });
                                    }};

struct Fixture {
  Graph g;
  Output taken;
  Fixture() {
    mailbox().clear();
    taken = g.add("TestTake", {});
  }
};

}  // namespace

TEST_CASE("a parked kernel goes on when another thread wakes it") {
  Fixture f;
  Session session(f.g);
  const Output y = f.taken * 2.0f;
  std::jthread other([] {
    mailbox().wait_until_parked();
    mailbox().put(21);
  });
  CHECK(session.run(y).scalar<float>() == 42);
  other.join();
}

TEST_CASE("a step that holds both the one who waits and the one who wakes ends on one thread") {
  Fixture f;
  const Node& put = f.g.add("TestPut", {constant(f.g, Tensor::scalar(5.0f))});
  Session session(f.g, {.intra_op_parallelism_threads = 1});
  const auto [y, none] = session.run({f.taken + 1.0f, Operation(put)});
  CHECK(y.scalar<float>() == 6);
}

TEST_CASE("a parked step ends when it is cancelled, and the session goes on") {
  Fixture f;
  Session session(f.g);
  const CancellationToken token;
  std::jthread other([&] {
    mailbox().wait_until_parked();
    token.cancel();
  });
  CHECK_THROWS_AS(session.run(f.taken, {}, {.cancellation = &token}), Cancelled);
  other.join();
  mailbox().put(1);
  CHECK(session.run(f.taken).scalar<float>() == 1);
}

TEST_CASE("a parked step ends when its time is up") {
  Fixture f;
  Session session(f.g);
  CHECK_THROWS_AS(session.run(f.taken, {}, {.timeout_in_ms = 5}), DeadlineExceeded);
}

TEST_CASE("closing the session ends a parked step") {
  Fixture f;
  Session session(f.g);
  std::jthread other([&] {
    mailbox().wait_until_parked();
    session.close();
  });
  CHECK_THROWS_AS(session.run(f.taken), Cancelled);
  other.join();
}

TEST_CASE("a parked step blocks neither a snapshot nor another step, and has written nothing") {
  Fixture f;
  const Variable v = variable(f.g, 1.0f, "v");
  const Operation write(assign(v, v.value() + f.taken).node());
  const Operation init = initialize_global_variables(f.g);
  const Operation bump(assign_add(v, 10.0f).node());
  Session session(f.g);
  session.run(init);
  std::jthread other([&] { session.run(write); });
  mailbox().wait_until_parked();
  const std::vector<Variable> variables{v};
  CHECK(session.snapshot(variables)[0].scalar<float>() == 1);
  session.run(bump);
  CHECK(session.run(v).scalar<float>() == 11);
  mailbox().put(0.5f);
  other.join();
  CHECK(session.run(v).scalar<float>() == 11.5f);
}
