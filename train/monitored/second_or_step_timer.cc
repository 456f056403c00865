// Periods count from the last trigger, by the steady clock.
#include "train/monitored/second_or_step_timer.h"

#include <utility>

#include "graph/error.h"

namespace runnel {
namespace {

double secs_between(std::int64_t from, std::int64_t to) { return static_cast<double>(to - from) * 1e-9; }

}  // namespace

bool has_passed(std::int64_t from, std::int64_t now, std::int64_t period) {
  return now > from && static_cast<std::uint64_t>(now) - static_cast<std::uint64_t>(from) >=
                           static_cast<std::uint64_t>(period);
}

SecondOrStepTimer::SecondOrStepTimer(SecondOrStepTimerOptions options)
    : options_(std::move(options)), clock_(options_.clock ? *options_.clock : system_clock()) {
  if (!options_.every_secs && !options_.every_steps)
    throw InvalidArgument(
        cat(options_.name, " needs a period: give seconds, steps, or both (whichever comes first)"),
        options_.where);
  if (options_.every_secs && !(*options_.every_secs >= 0))
    throw InvalidArgument(cat(options_.name, " cannot act every ", *options_.every_secs,
                              " seconds: give 0 for every step, or more"),
                          options_.where);
  if (options_.every_steps && *options_.every_steps < 0)
    throw InvalidArgument(cat(options_.name, " cannot act every ", *options_.every_steps,
                              " steps: give 1 for every step, or more"),
                          options_.where);
}

bool SecondOrStepTimer::should_trigger_for_step(std::int64_t step) const {
  if (!last_) return true;
  if (step == last_->step) return false;
  if (options_.every_steps && has_passed(last_->step, step, *options_.every_steps)) return true;
  return options_.every_secs &&
         secs_between(last_->steady_nanos, clock_.steady_nanos()) >= *options_.every_secs;
}

std::optional<TimerElapsed> SecondOrStepTimer::update_last_triggered_step(std::int64_t step) {
  const Trigger now{.step = step, .steady_nanos = clock_.steady_nanos()};
  std::optional<TimerElapsed> elapsed;
  if (last_)
    elapsed = {.secs = secs_between(last_->steady_nanos, now.steady_nanos), .steps = step - last_->step};
  last_ = now;
  return elapsed;
}

std::optional<std::int64_t> SecondOrStepTimer::last_triggered_step() const {
  return last_ ? std::optional(last_->step) : std::nullopt;
}

}  // namespace runnel
