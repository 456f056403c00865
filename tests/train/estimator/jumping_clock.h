// A clock for code that waits on one thread: a wait takes no time and moves the clock to its deadline.
#pragma once

#include <atomic>
#include <vector>

#include "graph/clock.h"

namespace runnel {

class JumpingClock final : public Clock {
 public:
  std::int64_t now_nanos() const override { return 1'700'000'000'000'000'000 + passed_; }
  std::int64_t steady_nanos() const override { return passed_; }
  using Clock::wait_until;
  void wait_until(std::condition_variable& condition, std::unique_lock<std::mutex>& lock,
                  std::int64_t deadline) override {
    if (deadline == kForever) {
      condition.wait(lock);  // for another thread
      return;
    }
    if (deadline > passed_) passed_ = deadline;
  }

  double seconds() const { return static_cast<double>(passed_) / 1e9; }
  void advance(double seconds) { passed_ += static_cast<std::int64_t>(seconds * 1e9); }

 private:
  std::atomic<std::int64_t> passed_ = 0;
};

}  // namespace runnel
