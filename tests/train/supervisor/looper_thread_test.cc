// LooperThread: the grid of times, its catching up, and its end.
#include "train/supervisor/looper_thread.h"

#include <doctest/doctest.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "tests/graph/until.h"
#include "tests/train/supervisor/logged_lines.h"

using namespace runnel;

namespace {

class Counting final : public LooperThread {
 public:
  using LooperThread::LooperThread;
  std::string said;
  void start_loop() override { said += "start "; }
  void run_loop() override {
    said += "run ";
    if (said.size() > 12) coordinator().request_stop();
  }
  void stop_loop() override { said += "stop"; }
};

// Stands still, and keeps for what time was waited last.
class StandingClock final : public Clock {
 public:
  std::atomic<std::int64_t> deadline = 0;
  std::atomic<int> waits = 0;
  std::int64_t now_nanos() const override { return 0; }
  std::int64_t steady_nanos() const override { return 0; }
  void wait_until(std::condition_variable& condition, std::unique_lock<std::mutex>& lock,
                  std::int64_t until) override {
    deadline = until;
    ++waits;
    condition.wait(lock);
  }
};

}  // namespace

TEST_CASE("calls keep to the grid of the start, and one that overruns is followed by those it missed") {
  LoggedLines lines;
  ManualClock clock;
  Coordinator coord({.clock = &clock});
  std::vector<std::int64_t> times;  // in milliseconds
  std::atomic<int> calls = 0;
  LooperThread::loop(coord, 0.2, [&] {
    times.push_back(clock.steady_nanos() / 1'000'000);
    if (++calls == 1) clock.advance(0.5);
  });
  for (const int done : {3, 4, 5}) {
    until([&] { return calls == done && clock.waiting() == 1; });
    if (done < 5) clock.advance(done == 3 ? 0.1 : 0.2);
  }
  coord.request_stop();
  coord.join();
  CHECK(times == std::vector<std::int64_t>{0, 500, 500, 600, 800});
}

TEST_CASE("a stop ends the wait of a looper at once") {
  LoggedLines lines;
  ManualClock clock;  // stands still
  Coordinator coord({.clock = &clock});
  std::atomic<int> calls = 0;
  const auto looper = LooperThread::loop(
      coord, 600, [&] { ++calls; }, "saver");
  until([&] { return clock.waiting() == 1; });
  CHECK(looper->thread().doing() == "waits for its next call");
  coord.request_stop();
  coord.join();
  CHECK(calls == 1);
  CHECK_FALSE(looper->thread().alive());
}

TEST_CASE("without an interval calls come back to back, between the first and the last word") {
  LoggedLines lines;
  Coordinator coord;
  const auto looper = std::make_shared<Counting>(coord, std::nullopt);
  looper->start();
  coord.join();
  CHECK(looper->said == "start run run stop");
}

TEST_CASE("an error in a call stops the coordinator") {
  LoggedLines lines;
  Coordinator coord;
  LooperThread::loop(
      coord, 10, [] { throw ResourceExhausted("the disk is full"); }, "saver");
  CHECK(coord.wait_for_stop());
  CHECK(coord.stop_reason().text == "thread 'saver': the disk is full");
  CHECK_THROWS_AS(coord.join(), ResourceExhausted);
}

TEST_CASE("an interval too long to count means one call") {
  LoggedLines lines;
  StandingClock clock;
  Coordinator coord({.clock = &clock});
  std::atomic<int> calls = 0;
  LooperThread::loop(coord, std::numeric_limits<double>::infinity(), [&] { ++calls; });
  until([&] { return clock.waits == 1 || calls > 1; });
  CHECK(clock.deadline.load() == Clock::kForever);
  CHECK(calls == 1);
  coord.request_stop();
  coord.join();
}

TEST_CASE("a looper of the stack, one started twice and a negative interval are refused") {
  LoggedLines lines;
  Coordinator coord;
  LooperThread on_stack(coord, 1, [] {});
  CHECK_THROWS_AS(on_stack.start(), FailedPrecondition);
  CHECK_THROWS_WITH_AS(
      LooperThread(coord, -1, [] {}),
      "LooperThread 'LooperThread': the interval is -1 s; give 0 or more, or none for calls back to back",
      InvalidArgument);
  CHECK_THROWS_AS(LooperThread(coord, std::numeric_limits<double>::quiet_NaN()), InvalidArgument);
  coord.request_stop();
  const auto looper = LooperThread::loop(coord, 1, [] {});
  CHECK_THROWS_AS(looper->start(), FailedPrecondition);
  coord.join();
}
