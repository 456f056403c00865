// QueueRunner: its threads, their end, its errors, and its message. The enqueue operations here count instead
// of filling a queue; stops of real queues are in queue_stop_test.cc.
#include "train/supervisor/queue_runner.h"

#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "ops/ops.h"
#include "tests/graph/no_threads.h"
#include "tests/train/supervisor/logged_lines.h"

using namespace runnel;

namespace {

// A runner whose enqueue operations count one variable up to a limit.
struct Counting {
  explicit Counting(Graph& g, int threads = 2, std::int64_t limit = 10)
      : counter(variable(g, std::int64_t{0}, "counter")),
        closed(variable(g, std::int32_t{0}, "closed")),
        cancelled(variable(g, std::int32_t{0}, "cancelled")),
        runner(constant(g, Tensor::scalar(1.0f), {.name = "in/queue"}),
               std::vector<Operation>(static_cast<std::size_t>(threads),
                                      count_up_to(counter, limit, {.name = "in/enqueue"}).node()),
               {.close_op = assign_add(closed, 1, {.name = "in/close"}).node(),
                .cancel_op = assign_add(cancelled, 1, {.name = "in/cancel"}).node()}) {}

  Variable counter, closed, cancelled;
  QueueRunner runner;
};

void join_all(const std::vector<CoordinatedThread>& threads) {
  for (const CoordinatedThread& thread : threads) thread.join();
}

}  // namespace

TEST_CASE("threads enqueue until the input ends, and the last one closes the queue") {
  LoggedLines lines;
  Graph g;
  Counting c(g, 4, 1000);
  Session session(g);
  session.run(initialize_global_variables(g));
  join_all(c.runner.create_threads(session, nullptr, {.start = true}));
  CHECK(session.get<std::int64_t>(c.counter) == 1000);
  CHECK(session.get<std::int32_t>(c.closed) == 1);
  CHECK(session.get<std::int32_t>(c.cancelled) == 0);
  CHECK(c.runner.exceptions_raised().empty());
  CHECK(lines.all().empty());
}

TEST_CASE("threads have TensorFlow's names, one of them waits for the stop and then cancels the queue") {
  LoggedLines lines;
  Graph g;
  Counting c(g);
  Session session(g);
  session.run(initialize_global_variables(g));
  Coordinator coord;
  const std::vector<CoordinatedThread> threads = c.runner.create_threads(session, &coord);
  CHECK(threads.size() == 3);
  CHECK(threads[0].name() == "QueueRunnerThread-in/queue-in/enqueue");
  CHECK(threads[1].name() == threads[0].name());
  CHECK(threads[2].name() == "QueueRunnerThread-in/queue-close_on_stop");
  for (const CoordinatedThread& thread : threads) thread.start();
  threads[0].join();
  threads[1].join();
  CHECK_FALSE(coord.should_stop());
  CHECK(threads[2].alive());
  coord.request_stop();
  coord.join();
  CHECK(session.get<std::int32_t>(c.cancelled) == 1);
}

TEST_CASE("a second call makes no threads while those of the first are active, also through the collection") {
  LoggedLines lines;
  Graph g;
  Counting c(g);
  add_queue_runner(g, c.runner);
  Session session(g), other(g);
  const Operation init = initialize_global_variables(g);
  session.run(init);
  other.run(init);
  const auto waiting = start_queue_runners(session, nullptr, {.start = false});
  CHECK(waiting.size() == 2);
  CHECK(start_queue_runners(session).empty());
  CHECK(c.runner.create_threads(session).empty());
  join_all(start_queue_runners(other));
  CHECK(other.get<std::int64_t>(c.counter) == 10);
  for (const CoordinatedThread& thread : waiting) thread.start();
  join_all(waiting);
  CHECK(start_queue_runners(session, nullptr, {.start = false}).size() == 2);
}

TEST_CASE("an error of an enqueue operation stops the coordinator, and join raises it") {
  LoggedLines lines;
  Graph g;
  const Operation bad =
      assert_true(constant(g, Tensor::scalar(false)), {Tensor::scalar(std::string("the file is gone"))});
  const Output queue = constant(g, Tensor::scalar(1.0f), {.name = "q"});
  const QueueRunner runner(queue, {bad}, {.close_op = no_op(g), .cancel_op = no_op(g)});
  Session session(g);
  Coordinator coord;
  runner.create_threads(session, &coord, {.start = true});
  coord.wait_for_stop();
  CHECK(coord.stop_reason().cause == StopCause::kError);
  CHECK(coord.stop_reason().text.find("QueueRunnerThread-q-Assert/Assert") != std::string::npos);
  CHECK_THROWS_AS(coord.join(), InvalidArgument);
  CHECK(runner.exceptions_raised().empty());
}

TEST_CASE("without a coordinator errors are logged and kept until the next start") {
  LoggedLines lines;
  Graph g;
  Counting c(g);
  Session session(g);  // nothing is initialised
  join_all(c.runner.create_threads(session, nullptr, {.start = true}));
  CHECK(c.runner.exceptions_raised().size() == 2);
  CHECK_THROWS_AS(std::rethrow_exception(c.runner.exceptions_raised()[0]), FailedPrecondition);
  CHECK(lines.has("error: thread 'QueueRunnerThread-in/queue-in/enqueue' ended with an error"));
  session.run(initialize_global_variables(g));
  join_all(c.runner.create_threads(session, nullptr, {.start = true}));
  CHECK(c.runner.exceptions_raised().empty());
  CHECK(session.get<std::int32_t>(c.closed) == 1);
}

TEST_CASE("threads that the machine refuses leave the runner as it was") {
  LoggedLines lines;
  Graph g;
  Counting c(g);
  Session session(g);
  session.run(initialize_global_variables(g));
  Coordinator coord;
  {
    const NoThreads none;
    CHECK_THROWS_AS(c.runner.create_threads(session, &coord, {.start = true}), ResourceExhausted);
  }
  CHECK(c.runner.create_threads(session, &coord, {.start = true}).size() == 3);
  coord.request_stop();
  coord.join({.strict = true});
}

TEST_CASE("threads may outlive session, runner and coordinator, and end when the session is gone") {
  LoggedLines lines;
  Graph g;
  std::vector<CoordinatedThread> threads;
  {
    Session session(g);
    Counting c(g, 2, std::int64_t{1} << 60);
    session.run(initialize_global_variables(g));
    threads = c.runner.create_threads(session, nullptr, {.start = true});
  }
  join_all(threads);
  CHECK(lines.has("ended with an error"));
}

TEST_CASE("nothing of a session is kept by threads that have ended or never began") {
  LoggedLines lines;
  Graph g;
  const Counting c(g);
  const Operation init = initialize_global_variables(g);
  for (const bool start : {true, false}) {
    std::weak_ptr<Engine> engine;
    {
      Session session(g);
      session.run(init);
      engine = session.engine();
      Coordinator coord;
      c.runner.create_threads(session, &coord, {.start = start});
      coord.request_stop();
    }
    CHECK(engine.expired());
  }
}

TEST_CASE("the end of a coordinator ends the threads of its runners") {
  LoggedLines lines;
  Graph g;
  Counting c(g, 3, std::int64_t{1} << 60);
  Session session(g);
  session.run(initialize_global_variables(g));
  std::vector<CoordinatedThread> threads;
  {
    Coordinator coord;
    threads = c.runner.create_threads(session, &coord, {.start = true});
  }
  for (const CoordinatedThread& thread : threads) CHECK_FALSE(thread.alive());
  CHECK(session.get<std::int32_t>(c.cancelled) == 1);
  CHECK_FALSE(lines.has("error"));
}

TEST_CASE("a runner goes through its message, with names relative to a scope") {
  Graph g;
  Counting c(g);
  const QueueRunner same = QueueRunner::from_proto(g, c.runner.to_proto());
  CHECK(same.name() == "in/queue");
  CHECK(same.enqueue_ops() == c.runner.enqueue_ops());
  CHECK(same.close_op() == c.runner.close_op());
  CHECK(same.cancel_op() == c.runner.cancel_op());
  CHECK(same.queue_closed_exception_types() == std::vector<Code>{Code::kOutOfRange});
  const std::string inside = c.runner.to_proto("in");
  CHECK(inside != c.runner.to_proto());
  CHECK(QueueRunner::from_proto(g, inside, "in").cancel_op() == c.runner.cancel_op());
  CHECK(c.runner.to_proto("out").empty());
}

TEST_CASE("what is no runner, or names what is not there, is refused") {
  LoggedLines lines;
  Graph g;
  Counting c(g);
  CHECK_THROWS_AS(QueueRunner::from_proto(g, "\xff\xff"), DataLoss);
  CHECK_THROWS_AS(QueueRunner::from_proto(g, c.runner.to_proto(), "elsewhere"), NotFound);
  CHECK_THROWS_WITH_AS(QueueRunner::from_proto(g, ""), "QueueRunner '': its queue has no name",
                       InvalidArgument);
  CHECK_THROWS_WITH_AS(QueueRunner(c.counter.value(), {}),
                       "QueueRunner 'counter/read': there is no enqueue operation; give it one a thread",
                       InvalidArgument);
  CHECK_THROWS_AS(QueueRunner(c.counter.value(), {no_op(g)}, {.queue_closed_exception_types = {}}),
                  InvalidArgument);
  g.add_to_collection(keys::kQueueRunners, std::int64_t{3});
  Session session(g);
  CHECK_THROWS_AS(start_queue_runners(session), InvalidArgument);
}

TEST_CASE("an empty collection starts nothing and is a warning") {
  LoggedLines lines;
  Graph g;
  Session session(g);
  CHECK(start_queue_runners(session).empty());
  CHECK(lines.has("warning: start_queue_runners: the collection queue_runners is empty"));
}
