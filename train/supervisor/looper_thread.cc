// Times are whole nanoseconds of the coordinator's clock, so that the grid does not drift.
#include "train/supervisor/looper_thread.h"

#include <cmath>
#include <cstdint>
#include <utility>

#include "graph/error.h"

namespace runnel {

LooperThread::LooperThread(Coordinator& coord, std::optional<double> timer_interval_secs,
                           std::function<void()> target, std::string name)
    : coord_(coord.share()),
      interval_secs_(timer_interval_secs),
      target_(std::move(target)),
      thread_(std::move(name)) {
  if (interval_secs_ && !(*interval_secs_ >= 0))
    throw InvalidArgument(cat("LooperThread '", thread_.name(), "': the interval is ", *interval_secs_,
                              " s; give 0 or more, or none for calls back to back"));
  coord_->register_thread(thread_);
}

std::shared_ptr<LooperThread> LooperThread::loop(Coordinator& coord,
                                                 std::optional<double> timer_interval_secs,
                                                 std::function<void()> target, std::string name) {
  auto looper =
      std::make_shared<LooperThread>(coord, timer_interval_secs, std::move(target), std::move(name));
  looper->start();
  return looper;
}

void LooperThread::start() {
  std::shared_ptr<LooperThread> self = weak_from_this().lock();
  if (!self)
    throw FailedPrecondition(
        cat("LooperThread '", thread_.name(), "': its thread shares it; make it with std::make_shared"));
  thread_.start([self = std::move(self)] { self->run(); });
}

void LooperThread::run() {
  coord_->stop_on_exception([this] {
    start_loop();
    if (interval_secs_) {
      run_on_grid();
    } else {
      while (!coord_->should_stop()) run_loop();
    }
    stop_loop();
  });
}

void LooperThread::run_on_grid() {
  Clock& clock = coord_->clock();
  std::int64_t next = clock.steady_nanos();
  const bool once = clock.deadline_in(*interval_secs_) == Clock::kForever;
  const std::int64_t interval = once ? 0 : std::llround(*interval_secs_ * 1e9);
  for (;;) {
    {
      const Doing waiting("waits for its next call");
      if (coord_->wait_for_stop_until(next)) return;
    }
    next = once ? Clock::kForever : next + interval;
    const Doing calling("is in a call");
    run_loop();
  }
}

void LooperThread::run_loop() {
  if (target_) target_();
}

}  // namespace runnel
