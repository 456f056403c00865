// Stopping while threads wait in queues: nobody may be left, whatever each of them waits for. C5 of the cases
// users met.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "graph/graph.h"
#include "ops/ops.h"
#include "tests/graph/held.h"
#include "tests/kernels/queue_probe.h"
#include "tests/train/supervisor/logged_lines.h"
#include "train/supervisor/queue_runner.h"

using namespace runnel;

namespace {

constexpr int kRounds = 1000;

constexpr SessionOptions kOneThread{.intra_op_parallelism_threads = 1, .inter_op_parallelism_threads = 1};

FIFOQueue numbers(Graph& g, std::int64_t capacity, const std::string& name) {
  return FIFOQueue(g, capacity, {DType::kFloat}, {.shapes = {Shape{}}, .name = name});
}

}  // namespace

TEST_CASE("a stop ends threads that wait to enqueue into a full queue, a thousand times") {
  LoggedLines lines;
  Graph g;
  const FIFOQueue queue = numbers(g, 1, "q");
  const Operation enqueue = queue.enqueue({Tensor::scalar(1.0f)});
  add_queue_runner(g, QueueRunner(queue, std::vector<Operation>(4, enqueue)));
  const Held before = held();
  for (int round = 0; round < kRounds; ++round) {
    Session session(g, kOneThread);
    Coordinator coord;
    CHECK(start_queue_runners(session, &coord).size() == 5);
    if (round % 2 == 0) await_waiting(session, queue, 4);
    coord.request_stop();
    coord.join({.stop_grace_period_secs = 60, .strict = true});
  }
  check_nothing_left(before);
  CHECK_FALSE(lines.has("error"));
}

TEST_CASE("a stop ends threads that wait to dequeue from an empty queue, a thousand times") {
  LoggedLines lines;
  Graph g;
  const FIFOQueue empty = numbers(g, 1, "empty"), next = numbers(g, 1, "next");
  const Operation move = next.enqueue({Output(empty.dequeue())});
  add_queue_runner(g, QueueRunner(next, std::vector<Operation>(4, move)));
  const Output wanted = next.dequeue();
  const Held before = held();
  for (int round = 0; round < kRounds; ++round) {
    Session session(g, kOneThread);
    Coordinator coord;
    start_queue_runners(session, &coord);
    coord.start_thread("consumer", [&] { session.run(wanted); });
    if (round % 2 == 0) await_waiting(session, empty, 4);
    coord.request_stop();
    coord.join({.stop_grace_period_secs = 60, .strict = true});
  }
  check_nothing_left(before);
  CHECK_FALSE(lines.has("error"));
}

TEST_CASE("the end of a coordinator ends a wait of its own loop, when it stops the session's waiting") {
  LoggedLines lines;
  Graph g;
  const FIFOQueue empty = numbers(g, 1, "empty");
  const Output wanted = empty.dequeue();
  Session session(g, kOneThread);
  Coordinator coord;
  const OnStop ends = coord.on_stop([&] { session.stop_waiting("training stops"); });
  coord.start_thread("consumer", [&] { session.run(wanted); });
  coord.request_stop();
  coord.join({.strict = true});
  CHECK(coord.stop_reason().cause == StopCause::kRequested);
}

TEST_CASE("the end of the input reaches the consumer as the end of the queue, after everything in it") {
  LoggedLines lines;
  Graph g;
  const FIFOQueue queue = numbers(g, 4, "q");
  const Variable counter = variable(g, 0.0f, "counter");
  const Output next = count_up_to(variable(g, std::int32_t{0}, "n"), 50);
  add_queue_runner(g, QueueRunner(queue, std::vector<Operation>(3, queue.enqueue({cast<float>(next)}))));
  const Output total = assign_add(counter, Output(queue.dequeue()));
  const Operation init = initialize_global_variables(g);
  Session session(g);
  session.run(init);
  Coordinator coord;
  start_queue_runners(session, &coord);
  CHECK_FALSE(coord.stop_on_exception([&] {
    while (!coord.should_stop()) session.run(total);
  }));
  coord.join({.strict = true});
  CHECK(coord.stop_reason().cause == StopCause::kInputExhausted);
  CHECK(coord.stop_reason().text.find("'q' is closed") != std::string::npos);
  CHECK(session.get<float>(counter) == 50.0f * 49 / 2);
}

TEST_CASE("a session that is closed ends its runners, and their errors tell the coordinator") {
  LoggedLines lines;
  Graph g;
  const FIFOQueue queue = numbers(g, 1, "q");
  add_queue_runner(g, QueueRunner(queue, {queue.enqueue({Tensor::scalar(1.0f)})}));
  Coordinator coord;
  {
    Session session(g, kOneThread);
    start_queue_runners(session, &coord);
    await_waiting(session, queue, 1);
  }
  coord.wait_for_stop();
  CHECK(coord.stop_reason().cause == StopCause::kError);
  CHECK_THROWS_AS(coord.join(), Error);
}
