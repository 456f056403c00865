// Time, as an interface: the wall clock for stamps in files, a steady clock for periods, and waiting on a
// condition until a steady time. The library never reads time or sleeps in another way, so a test that brings
// a ManualClock decides when a period is over and needs no sleep.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <limits>
#include <mutex>
#include <vector>

namespace runnel {

// Times are nanoseconds. All calls may be made from many threads.
class Clock {
 public:
  static constexpr std::int64_t kForever = std::numeric_limits<std::int64_t>::max();

  virtual ~Clock() = default;
  virtual std::int64_t now_nanos() const = 0;     // since 1970; jumps when somebody sets the clock
  virtual std::int64_t steady_nanos() const = 0;  // since some start; never goes back
  // Returns when `condition` is notified, when steady_nanos() has reached `deadline`, or for no reason at
  // all, as conditions do. Requires: `lock` is held.
  virtual void wait_until(std::condition_variable& condition, std::unique_lock<std::mutex>& lock,
                          std::int64_t deadline) = 0;

  double now() const { return static_cast<double>(now_nanos()) * 1e-9; }  // seconds since 1970
  // The steady time `seconds` from now; kForever if that is too far away to count.
  std::int64_t deadline_in(double seconds) const;
  // Waits until `done()` or the deadline; returns done(). Requires: `lock` is held, as it is while done()
  // runs.
  template <class Done>
  bool wait_until(std::condition_variable& condition, std::unique_lock<std::mutex>& lock,
                  std::int64_t deadline, Done done) {
    while (!done()) {
      if (deadline != kForever && steady_nanos() >= deadline) return false;
      wait_until(condition, lock, deadline);
    }
    return true;
  }
};

// The machine's clocks.
Clock& system_clock();

// A clock that stands still until it is told to move; waiting threads wake when it passes their deadline.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(std::int64_t now_nanos = 1'700'000'000'000'000'000) : start_(now_nanos) {}

  std::int64_t now_nanos() const override;
  std::int64_t steady_nanos() const override;
  using Clock::wait_until;
  void wait_until(std::condition_variable& condition, std::unique_lock<std::mutex>& lock,
                  std::int64_t deadline) override;

  // Moves both clocks on and wakes everyone whose deadline has come. Requires: the caller holds no lock that
  // a waiting thread waits with.
  void advance(double seconds);
  // How many threads wait for a time, so that a test can move on when another thread has come so far. Waits
  // without end do not count.
  int waiting() const;

 private:
  struct Waiter {
    std::condition_variable* condition;
    std::mutex* mutex;
    std::int64_t deadline;
  };
  bool wake_due();  // false if some waiter was between two states and must be tried again

  mutable std::mutex mutex_;
  std::int64_t start_;
  std::int64_t passed_ = 0;
  std::vector<Waiter*> waiters_;  // each lives on the stack of its thread, which takes it out under mutex_
};

}  // namespace runnel
