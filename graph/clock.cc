// The machine's clocks through std::chrono, and the clock of the tests. The manual clock must not lose a
// wake-up: a waiter that has looked at the time but does not sleep yet would miss a notification. So a waiter
// is notified only under its own mutex, which it gives up by sleeping; that mutex is tried, not taken, since
// threads take it before the clock's.
#include "graph/clock.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

namespace runnel {
namespace {

class SystemClock final : public Clock {
 public:
  std::int64_t now_nanos() const override { return nanos(std::chrono::system_clock::now()); }
  std::int64_t steady_nanos() const override { return nanos(std::chrono::steady_clock::now()); }
  void wait_until(std::condition_variable& condition, std::unique_lock<std::mutex>& lock,
                  std::int64_t deadline) override {
    if (deadline == kForever) return condition.wait(lock);
    condition.wait_until(lock, std::chrono::steady_clock::time_point(std::chrono::nanoseconds(deadline)));
  }

 private:
  template <class Time>
  static std::int64_t nanos(Time time) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
  }
};

}  // namespace

std::int64_t Clock::deadline_in(double seconds) const {
  constexpr double kHundredYears = 3.2e9;  // leaves room below 2^63 nanoseconds
  if (!(seconds < kHundredYears)) return kForever;
  return steady_nanos() + std::llround(std::max(seconds, 0.0) * 1e9);
}

Clock& system_clock() {
  static SystemClock* clock = new SystemClock;  // never destroyed: threads may outlive static objects
  return *clock;
}

std::int64_t ManualClock::now_nanos() const {
  const std::lock_guard hold(mutex_);
  return start_ + passed_;
}

std::int64_t ManualClock::steady_nanos() const {
  const std::lock_guard hold(mutex_);
  return passed_;
}

void ManualClock::wait_until(std::condition_variable& condition, std::unique_lock<std::mutex>& lock,
                             std::int64_t deadline) {
  Waiter self{&condition, lock.mutex(), deadline};
  {
    const std::lock_guard hold(mutex_);
    if (passed_ >= deadline) return;
    waiters_.push_back(&self);
  }
  condition.wait(lock);
  const std::lock_guard hold(mutex_);
  std::erase(waiters_, &self);
}

void ManualClock::advance(double seconds) {
  {
    const std::lock_guard hold(mutex_);
    passed_ += std::llround(seconds * 1e9);
  }
  while (!wake_due()) std::this_thread::yield();
}

int ManualClock::waiting() const {
  const std::lock_guard hold(mutex_);
  return static_cast<int>(std::count_if(waiters_.begin(), waiters_.end(),
                                        [](const Waiter* waiter) { return waiter->deadline != kForever; }));
}

bool ManualClock::wake_due() {
  const std::lock_guard hold(mutex_);
  std::erase_if(waiters_, [this](const Waiter* waiter) {
    if (waiter->deadline > passed_ || !waiter->mutex->try_lock()) return false;
    waiter->condition->notify_all();
    waiter->mutex->unlock();
    return true;
  });
  return std::none_of(waiters_.begin(), waiters_.end(),
                      [this](const Waiter* waiter) { return waiter->deadline <= passed_; });
}

}  // namespace runnel
