// CoordinatedThread: its life, its end, and what it says of itself.
#include "train/supervisor/coordinated_thread.h"

#include <doctest/doctest.h>

#include <atomic>
#include <future>
#include <memory>
#include <stdexcept>

#include "graph/error.h"
#include "tests/graph/no_threads.h"
#include "tests/train/supervisor/logged_lines.h"

using namespace runnel;

TEST_CASE("a thread lives from its start to the end of its body, whose belongings go first") {
  std::promise<void> go;
  auto held = std::make_shared<int>(1);
  const CoordinatedThread thread("worker", [&go, held] { go.get_future().wait(); });
  CHECK_FALSE(thread.alive());
  thread.start();
  CHECK(thread.alive());
  go.set_value();
  thread.join();
  CHECK_FALSE(thread.alive());
  CHECK(held.use_count() == 1);
}

TEST_CASE("a thread's error is logged and kept, whatever its class") {
  LoggedLines lines;
  const CoordinatedThread thread("worker", [] { throw 7; });
  thread.start();
  thread.join();
  CHECK_THROWS_AS(std::rethrow_exception(thread.error()), int);
  CHECK(lines.has("error: thread 'worker' ended with an error: an exception of an unknown class"));
}

TEST_CASE("a thread starts once and only with a body") {
  const CoordinatedThread thread("worker");
  CHECK_THROWS_WITH_AS(thread.start(), "CoordinatedThread 'worker': it has no body; give start() one",
                       FailedPrecondition);
  thread.start([] {});
  CHECK_THROWS_AS(thread.start([] {}), FailedPrecondition);
  thread.join();
  CHECK_THROWS_AS(CoordinatedThread().start(), FailedPrecondition);
}

TEST_CASE("a thread that the machine refuses keeps nothing of the body, and may be started later") {
  auto held = std::make_shared<int>(1);
  const CoordinatedThread thread("worker");
  {
    const NoThreads none;
    CHECK_THROWS_WITH_AS(thread.start([held] {}),
                         doctest::Contains("no thread could be started for thread 'worker'"),
                         ResourceExhausted);
  }
  CHECK(held.use_count() == 1);
  CHECK_FALSE(thread.started());
  thread.start([] {});
  thread.join();
}

TEST_CASE("a thread that waits for its own end is refused") {
  LoggedLines lines;
  const CoordinatedThread thread("worker");
  thread.start([] { CoordinatedThread::current().join(); });
  thread.join();
  CHECK_THROWS_AS(std::rethrow_exception(thread.error()), FailedPrecondition);
}

TEST_CASE("a call on the end comes once, and at once for a thread that has ended") {
  std::atomic<int> calls = 0;
  const CoordinatedThread thread("worker");
  thread.on_end([&] { ++calls; });
  thread.start([] {});
  thread.join();
  CHECK(calls == 1);
  thread.on_end([&] { ++calls; });
  CHECK(calls == 2);
}

TEST_CASE("a call on the end that throws is logged, and the others are made") {
  LoggedLines lines;
  std::atomic<int> calls = 0;
  const CoordinatedThread thread("worker", [] {});
  thread.on_end([] { throw Internal("no more"); });
  thread.on_end([&] { ++calls; });
  thread.start();
  thread.join();
  CHECK(calls == 1);
  CHECK(lines.has("error: thread 'worker': a call on its end failed: no more"));
}

TEST_CASE("a thread says what it does, and the inner of two sayings counts") {
  std::promise<void> inner_said, inner_go, outer_said, outer_go;
  const CoordinatedThread thread("worker", [&] {
    const Doing outer("reads a file");
    {
      const Doing inner("waits for the disk");
      inner_said.set_value();
      inner_go.get_future().wait();
    }
    outer_said.set_value();
    outer_go.get_future().wait();
  });
  thread.start();
  inner_said.get_future().wait();
  CHECK(thread.doing() == "waits for the disk");
  inner_go.set_value();
  outer_said.get_future().wait();
  CHECK(thread.doing() == "reads a file");
  outer_go.set_value();
  thread.join();
  CHECK(thread.doing() == "");
}

TEST_CASE("a thread whose handles are gone runs to its end") {
  std::promise<void> go, done;
  {
    CoordinatedThread("worker", [&] { go.get_future().wait(), done.set_value(); }).start();
  }
  go.set_value();
  done.get_future().wait();
  CHECK(true);
}
