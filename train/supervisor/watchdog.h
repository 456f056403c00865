// Notices that something which should happen every so often does not: a save that hangs in a dead network
// drive, a summary that waits for input for ever. It says so in the log and stops nothing, since what hangs
// may go on.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "train/supervisor/coordinated_thread.h"
#include "train/supervisor/coordinator.h"

namespace runnel {

// Made by start(); its thread shares it and ends with the coordinator. All calls may be made from many
// threads.
class Watchdog {
 public:
  explicit Watchdog(Coordinator& coord) : coord_(coord.share()) {}
  static std::shared_ptr<Watchdog> start(Coordinator& coord);

  // From now on something is expected every `interval_secs`: "checkpoint". Once it is overdue by an interval,
  // that is logged, with what `thread` says that it does, and again each time the delay has doubled. Returns
  // a number for `done`.
  int expect(std::string what, double interval_secs, CoordinatedThread thread);
  void done(int number);

 private:
  struct Expected {
    std::string what;
    double interval_secs;
    std::int64_t interval, last;  // nanoseconds of the steady clock
    std::int64_t missed = 2;      // intervals without it that are worth a line
    CoordinatedThread thread;

    std::int64_t deadline() const;
  };
  void watch();
  std::string line(const Expected& overdue) const;

  const std::shared_ptr<Coordinator> coord_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopped_ = false;
  std::vector<Expected> expected_;
};

}  // namespace runnel
