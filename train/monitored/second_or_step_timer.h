// When a hook that acts now and then acts: once in so many seconds, once in so many steps, or whichever comes
// first. Source: tf.train.SecondOrStepTimer, NeverTriggerTimer (behaviours 15).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "graph/clock.h"
#include "graph/location.h"

namespace runnel {

// What lies between two triggers.
struct TimerElapsed {
  double secs = 0;
  std::int64_t steps = 0;
};

// True if `now` is `period` steps or more behind `from`; without the overflow of a sum, since periods may be
// as large as a number can be. Requires: period is 0 or more.
bool has_passed(std::int64_t from, std::int64_t now, std::int64_t period);

class HookTimer {
 public:
  virtual ~HookTimer() = default;
  // As if it had never triggered.
  virtual void reset() = 0;
  virtual bool should_trigger_for_step(std::int64_t step) const = 0;
  // It has triggered now, at this step. Returns what has passed since it did before; none the first time.
  virtual std::optional<TimerElapsed> update_last_triggered_step(std::int64_t step) = 0;
  virtual std::optional<std::int64_t> last_triggered_step() const = 0;
};

struct SecondOrStepTimerOptions {
  std::optional<double> every_secs = {};
  std::optional<std::int64_t> every_steps = {};
  Clock* clock = nullptr;        // borrowed; none means the machine's
  std::string name = "a timer";  // whose period it is, for errors
  Location where = Location::here();
};

// Triggers the first time that it is asked, then when a period is over; never twice at one step.
class SecondOrStepTimer final : public HookTimer {
 public:
  // Throws InvalidArgument without a period, and for one that is negative or no number.
  explicit SecondOrStepTimer(SecondOrStepTimerOptions options);

  void reset() override { last_.reset(); }
  bool should_trigger_for_step(std::int64_t step) const override;
  std::optional<TimerElapsed> update_last_triggered_step(std::int64_t step) override;
  std::optional<std::int64_t> last_triggered_step() const override;

 private:
  struct Trigger {
    std::int64_t step = 0, steady_nanos = 0;
  };
  SecondOrStepTimerOptions options_;
  Clock& clock_;
  std::optional<Trigger> last_;
};

class NeverTriggerTimer final : public HookTimer {
 public:
  void reset() override {}
  bool should_trigger_for_step(std::int64_t) const override { return false; }
  std::optional<TimerElapsed> update_last_triggered_step(std::int64_t) override { return {}; }
  std::optional<std::int64_t> last_triggered_step() const override { return {}; }
};

}  // namespace runnel
