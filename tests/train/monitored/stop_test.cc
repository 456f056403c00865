// Stops that come while a monitored session and its threads wait in queues: everybody ends, and the end is a
// normal one.
#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "graph/error.h"
#include "graph/log.h"
#include "ops/ops.h"
#include "tests/graph/held.h"
#include "tests/graph/sanitizers.h"
#include "tests/train/monitored/probe_hook.h"
#include "train/monitored/monitored_session.h"
#include "train/supervisor/coordinator.h"
#include "train/supervisor/queue_runner.h"

namespace runnel {
namespace {

constexpr int kRounds = kSanitized ? 100 : 1000;

constexpr SessionOptions kOneThread{.intra_op_parallelism_threads = 1, .inter_op_parallelism_threads = 1};

// Two threads keep a queue full; another queue gets nothing.
struct Fed {
  Fed()
      : full(g, 1, {DType::kFloat}, {.shapes = {Shape{}}, .name = "full"}),
        empty(g, 1, {DType::kFloat}, {.shapes = {Shape{}}, .name = "empty"}),
        next(full.dequeue()),
        never(empty.dequeue()) {
    const Operation enqueue = full.enqueue({Tensor::scalar(1.0f)});
    add_queue_runner(g, QueueRunner(full, {enqueue, enqueue}));
  }
  MonitoredSessionOptions options(const std::shared_ptr<Probe>& hook) {
    return {.session_creator = std::make_shared<ChiefSessionCreator>(
                g, ChiefSessionCreatorOptions{.scaffold = scaffold, .config = kOneThread}),
            .hooks = {hook},
            .stop_grace_period_secs = 60,
            .handle_signals = false};
  }

  std::string log;
  ScopedLogSink sink{[this](LogLevel level, const std::string& line) {
    if (level != LogLevel::kInfo) log += line + "\n";
  }};
  Graph g;
  FIFOQueue full, empty;
  Output next, never;
  Scaffold scaffold;
};

TEST_CASE(
    "a stop ends a loop that waits for input, and its threads, a thousand times, and leaves no thread") {
  Fed fed;
  const auto hook = std::make_shared<Probe>();
  std::shared_ptr<Coordinator> coord;  // a thread of one's own may stop it when the session is gone already
  std::jthread stopper;
  hook->created = [&](Session&, Coordinator& c) { coord = c.share(); };
  hook->before = [&](SessionRunContext&) -> std::optional<SessionRunArgs> {
    if (!stopper.joinable())
      stopper = std::jthread(
          [coord] { coord->request_stop(StopReason{.cause = StopCause::kRequested, .text = "enough"}); });
    return {};
  };
  const Held before = held();
  for (int round = 0; round < kRounds; ++round) {
    const Output wanted = round % 2 == 0 ? fed.never : fed.next;
    MonitoredSession session(fed.g, fed.options(hook));
    const StopReason why = session.close_after([&](MonitoredSession& s) {
      while (!s.should_stop()) s.run(wanted);
    });
    stopper.join();
    CHECK(why.text == "enough");
  }
  check_nothing_left(before);
  CHECK(fed.log.empty());
}

TEST_CASE("a run that a stop has woken throws Cancelled, which a loop of one's own may take for the end") {
  Fed fed;
  const auto hook = std::make_shared<Probe>();
  hook->created = [](Session&, Coordinator& coord) { coord.request_stop(); };
  bool ended = false;
  hook->at_end = [&](Session&) { ended = true; };
  try {
    MonitoredSession session(fed.g, fed.options(hook));
    session.run(fed.never);
    FAIL("it did not wait");
  } catch (const Cancelled&) {
  }
  CHECK(ended);
}

TEST_CASE("a lost session's threads end before the next one's begin") {
  Fed fed;
  const auto hook = std::make_shared<Probe>();
  int runs = 0;
  hook->after = [&](SessionRunContext&, const SessionRunValues&) {
    if (++runs % 2 == 1) throw Unavailable("gone");
  };
  const Held before = held();
  {
    MonitoredSession session(fed.g, fed.options(hook));
    const Held with_runners = held();
    for (int i = 0; i < 20; ++i) CHECK(session.run(fed.next).scalar<float>() == 1);
    check_nothing_left(with_runners);
  }
  check_nothing_left(before);
}

TEST_CASE("the end of a queue's input ends the loop normally and names the queue") {
  ScopedLogSink quiet([](LogLevel, const std::string&) {});
  Graph g;
  const FIFOQueue queue(g, 3, {DType::kFloat}, {.shapes = {Shape{}}, .name = "examples"});
  const Variable left = variable(g, std::int64_t{0}, "left");
  const Output limited = count_up_to(left, 5);
  Operation enqueue;
  {
    const ControlDependencies after(g, {Operation(limited.node())});
    enqueue = queue.enqueue({Tensor::scalar(1.0f)});
  }
  add_queue_runner(g, QueueRunner(queue, {enqueue}));
  const Output next = queue.dequeue();
  MonitoredSession session(g, {.handle_signals = false});
  int steps = 0;
  const StopReason why = session.close_after([&](MonitoredSession& s) {
    for (; !s.should_stop(); ++steps) s.run(next);
  });
  CHECK(steps == 5);
  CHECK(why.cause == StopCause::kInputExhausted);
  CHECK(why.text.find("'examples'") != std::string::npos);
  CHECK(why.exit_code() == 0);
}

}  // namespace
}  // namespace runnel
