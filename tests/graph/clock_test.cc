// Clock: the manual clock wakes exactly those whose time has come, and loses no wake-up.
#include "graph/clock.h"

#include <doctest/doctest.h>

#include <atomic>
#include <thread>

#include "tests/graph/until.h"

using namespace runnel;

TEST_CASE("the machine's wall clock is past 2023 and its steady clock never goes back") {
  CHECK(system_clock().now() > 1.67e9);
  const std::int64_t first = system_clock().steady_nanos();
  CHECK(system_clock().steady_nanos() >= first);
}

TEST_CASE("a manual clock moves only when told, both its times together") {
  ManualClock clock(5'000'000'000);
  CHECK(clock.now() == 5.0);
  CHECK(clock.steady_nanos() == 0);
  clock.advance(1.5);
  CHECK(clock.now() == 6.5);
  CHECK(clock.steady_nanos() == 1'500'000'000);
}

TEST_CASE("a deadline too far to count is forever") {
  ManualClock clock;
  CHECK(clock.deadline_in(1e30) == Clock::kForever);
  CHECK(clock.deadline_in(2.0) == 2'000'000'000);
  CHECK(clock.deadline_in(-3.0) == 0);
}

TEST_CASE("a thread that waits for a time wakes when the manual clock passes it, whenever it began to wait") {
  for (int round = 0; round < 200; ++round) {
    ManualClock clock;
    std::mutex mutex;
    std::condition_variable condition;
    std::atomic<bool> woken = false;
    std::jthread waiter([&] {
      std::unique_lock lock(mutex);
      CHECK_FALSE(clock.wait_until(condition, lock, clock.deadline_in(1), [] { return false; }));
      woken = true;
    });
    until([&] {
      clock.advance(2);
      return woken.load();
    });
    waiter.join();
  }
}

TEST_CASE("waiting ends with true when the condition holds before the deadline") {
  ManualClock clock;
  std::mutex mutex;
  std::condition_variable condition;
  bool ready = false, result = false;
  std::jthread waiter([&] {
    std::unique_lock lock(mutex);
    result = clock.wait_until(condition, lock, clock.deadline_in(1), [&] { return ready; });
  });
  {
    const std::lock_guard hold(mutex);
    ready = true;
  }
  condition.notify_all();
  waiter.join();
  CHECK(result);
}

TEST_CASE("the machine's clock ends a wait whose deadline is over") {
  std::mutex mutex;
  std::condition_variable condition;
  std::unique_lock lock(mutex);
  Clock& clock = system_clock();
  CHECK_FALSE(clock.wait_until(condition, lock, clock.deadline_in(0.001), [] { return false; }));
}
