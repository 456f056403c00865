// Stopping what is blocked in a queue, again and again and in every way; and that nothing is lost, nobody
// sleeps on, and no thread or descriptor stays.
#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "graph/graph.h"
#include "ops/ops.h"
#include "queue_probe.h"
#include "tests/graph/held.h"
#include "tests/graph/sanitizers.h"

using namespace runnel;

namespace {

constexpr int kSlower = kSanitized ? 4 : 1;

enum class Way { kClose, kToken, kDeadline, kStopWaiting, kSessionClose };
constexpr std::array kWays{Way::kClose, Way::kToken, Way::kDeadline, Way::kStopWaiting, Way::kSessionClose};

// A full queue and an empty one, and three operations that block on them.
struct Blocking {
  Graph g;
  FIFOQueue full{g, 1, {DType::kInt32}, {.shapes = {Shape{}}}},
      empty{g, 1, {DType::kInt32}, {.shapes = {Shape{}}}};
  Operation fill = full.enqueue({1}), put = full.enqueue({2});
  Output one = empty.dequeue(), many = empty.dequeue_many(3);
  Operation close_full = full.close({.cancel_pending_enqueues = true}), close_empty = empty.close();

  const FIFOQueue& queue(int what) const { return what == 0 ? full : empty; }
  Fetch blocked(int what) const { return what == 0 ? Fetch(put) : what == 1 ? Fetch(one) : Fetch(many); }

  // What the blocked operation ended with. `early`: it may not even have begun to wait.
  Code stopped(int what, Way way, bool early) const {
    Graph& graph = const_cast<Graph&>(g);
    Session session(graph, {.intra_op_parallelism_threads = 1, .inter_op_parallelism_threads = 1});
    session.run(fill);
    const CancellationToken token;
    RunOptions options{.cancellation = &token};
    if (way == Way::kDeadline) options.timeout_in_ms = 1;
    OnThread run(session, blocked(what), options);
    if (!early && way != Way::kDeadline) await_waiting(session, queue(what), 1);
    if (way == Way::kClose) session.run(what == 0 ? close_full : close_empty);
    if (way == Way::kToken) token.cancel();
    if (way == Way::kStopWaiting) session.stop_waiting("enough");
    if (way == Way::kSessionClose) session.close();
    const Code failed = run.failed();
    CHECK(queue_in(session, full)->size() == 1);
    if (const auto used = queue_in(session, queue(what))) CHECK(used->waiting() == 0);
    return failed;
  }
};

bool expected(Code code, int what, Way way) {
  if (way == Way::kClose && what > 0) return code == Code::kOutOfRange;
  if (way == Way::kDeadline) return code == Code::kDeadlineExceeded;
  return code == Code::kCancelled;
}

}  // namespace

TEST_CASE("whatever is blocked in a queue ends at once however it is stopped, and leaves nothing behind") {
  const Blocking blocking;
  const Held before = held();
  for (int round = 0; round < 1000 / kSlower; ++round) {
    const int what = round % 3;
    const Way way = kWays[static_cast<std::size_t>(round / 3) % kWays.size()];
    const bool early = round % 2 == 1;
    const Code code = blocking.stopped(what, way, early);
    CAPTURE(round);
    CAPTURE(static_cast<int>(code));
    const bool closed_before = early && way == Way::kSessionClose && code == Code::kFailedPrecondition;
    CHECK((expected(code, what, way) || closed_before));
  }
  check_nothing_left(before);
}

TEST_CASE("many threads on one queue lose and double nothing, single elements and batches mixed") {
  Graph g;
  const FIFOQueue q(g, 3, {DType::kInt32}, {.shapes = {Shape{}}});
  const Output x = placeholder<std::int32_t>(g, {}, "x");
  const Operation put = q.enqueue({x}), close = q.close();
  const Output one = q.dequeue(), some = q.dequeue_up_to(2);
  Session session(g, {.intra_op_parallelism_threads = 1, .inter_op_parallelism_threads = 1});
  constexpr int kThreads = 3;
  const int each = 300 / kSlower;
  std::atomic<std::int64_t> sum{0}, count{0};
  std::vector<std::jthread> producers, consumers;
  for (int t = 0; t < kThreads; ++t) {
    producers.emplace_back([&, t] {
      for (int i = 0; i < each; ++i) session.run(put, {{x, Tensor::scalar(t * each + i)}});
    });
    consumers.emplace_back([&, t] {
      try {
        for (;;) {
          const Tensor got = session.run(t == 0 ? some : one);
          for (const std::int32_t v : got.values<std::int32_t>()) sum += v;
          count += got.elements();
        }
      } catch (const OutOfRange&) {  // closed and empty
      }
    });
  }
  for (std::jthread& t : producers) t.join();
  session.run(close);
  for (std::jthread& t : consumers) t.join();
  const std::int64_t n = kThreads * each;
  CHECK(count == n);
  CHECK(sum == n * (n - 1) / 2);
}

TEST_CASE("steps that are cancelled while others work lose no element") {
  Graph g;
  const FIFOQueue q(g, -1, {DType::kInt32}, {.shapes = {Shape{}}});
  const Operation put = q.enqueue({1});
  const Output three = q.dequeue_many(3), size = q.size();
  Session session(g, {.intra_op_parallelism_threads = 1, .inter_op_parallelism_threads = 1});
  std::int64_t taken = 0;
  const int rounds = 300 / kSlower;
  for (int i = 0; i < rounds; ++i) {
    const CancellationToken token;
    OnThread takes(session, three, {.cancellation = &token});
    session.run(put);
    token.cancel();
    if (takes.failed() == Code{}) taken += 3;
  }
  CHECK(taken + session.run(size).scalar<std::int32_t>() == rounds);
}

TEST_CASE("closing the session ends every step that waits in it, and refuses the next") {
  Graph g;
  const FIFOQueue q(g, 1, {DType::kInt32}, {.shapes = {Shape{}}});
  const Output one = q.dequeue();
  auto session = std::make_unique<Session>(g);
  std::vector<std::unique_ptr<OnThread>> waiting;
  for (int t = 0; t < 8; ++t) waiting.push_back(std::make_unique<OnThread>(*session, one));
  await_waiting(*session, q, 8);
  session->close();
  for (const auto& run : waiting) {
    CHECK(run->failed() == Code::kCancelled);
    CHECK(run->text() ==
          "QueueDequeueV2 'fifo_queue_Dequeue': Dequeue operation was cancelled on FIFOQueue "
          "'fifo_queue': the session was closed while this step ran");
  }
  CHECK_THROWS_AS(session->run(one), FailedPrecondition);
}
