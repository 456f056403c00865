// One thread that sleeps until the first of all deadlines; a deadline that has moved on meanwhile is found
// when it wakes.
#include "train/supervisor/watchdog.h"

#include <algorithm>
#include <utility>

#include "graph/error.h"
#include "graph/log.h"

namespace runnel {

std::shared_ptr<Watchdog> Watchdog::start(Coordinator& coord) {
  auto watchdog = std::make_shared<Watchdog>(coord);
  coord.start_thread("watchdog", [watchdog] { watchdog->watch(); });
  return watchdog;
}

std::int64_t Watchdog::Expected::deadline() const {
  return interval > (Clock::kForever - last) / missed ? Clock::kForever : last + missed * interval;
}

int Watchdog::expect(std::string what, double interval_secs, CoordinatedThread thread) {
  const Clock& clock = coord_->clock();
  const std::int64_t now = clock.steady_nanos(), first = clock.deadline_in(interval_secs);
  const std::lock_guard hold(mutex_);
  expected_.push_back({.what = std::move(what),
                       .interval_secs = interval_secs,
                       .interval = first == Clock::kForever ? first : std::max<std::int64_t>(first - now, 1),
                       .last = now,
                       .thread = std::move(thread)});
  changed_.notify_all();
  return static_cast<int>(expected_.size()) - 1;
}

void Watchdog::done(int number) {
  const std::lock_guard hold(mutex_);
  Expected& one = expected_.at(static_cast<std::size_t>(number));
  one.last = coord_->clock().steady_nanos();
  one.missed = 2;
}

std::string Watchdog::line(const Expected& overdue) const {
  const std::string doing = overdue.thread.doing();
  return cat("no ", overdue.what, " for ", overdue.missed, " x its interval of ", overdue.interval_secs,
             " s: the thread '", overdue.thread.name(), "' ",
             doing.empty() ? "does not say what it does" : doing, "; training goes on");
}

void Watchdog::watch() {
  const Doing watching("watches the services");
  const OnStop on_stop = coord_->on_stop([this] {
    const std::lock_guard hold(mutex_);
    stopped_ = true;
    changed_.notify_all();
  });
  std::unique_lock lock(mutex_);
  while (!stopped_) {
    const std::int64_t now = coord_->clock().steady_nanos();
    std::vector<std::string> lines;
    std::int64_t next = Clock::kForever;
    for (Expected& one : expected_) {
      if (one.deadline() <= now) {
        lines.push_back(line(one));
        while (one.deadline() <= now) one.missed *= 2;
      }
      next = std::min(next, one.deadline());
    }
    if (lines.empty()) {
      coord_->clock().wait_until(changed_, lock, next);
      continue;
    }
    lock.unlock();
    for (const std::string& each : lines) log_warning(each);
    lock.lock();
  }
}

}  // namespace runnel
