// See validation_monitor.h.
#include "train/estimator/validation_monitor.h"

#include <cmath>
#include <utility>

#include "graph/error.h"
#include "graph/log.h"
#include "ops/global_step.h"
#include "train/checkpoint/step_number.h"
#include "train/monitored/second_or_step_timer.h"

namespace runnel {

ValidationMonitor::ValidationMonitor(BaseEstimator& estimator, ValidationMonitorOptions options)
    : estimator_(&estimator), options_(std::move(options)) {
  if (!options_.input_fn) throw InvalidArgument("ValidationMonitor: input_fn is missing");
  if (options_.every_n_steps <= 0)
    throw InvalidArgument(
        cat("ValidationMonitor: every_n_steps is ", options_.every_n_steps, "; it must be over 0"));
  if (options_.early_stopping_rounds && *options_.early_stopping_rounds <= 0)
    throw InvalidArgument(cat("ValidationMonitor: early_stopping_rounds is ", *options_.early_stopping_rounds,
                              "; it must be over 0"));
  if (!(options_.check_interval_secs >= 0))
    throw InvalidArgument(cat("ValidationMonitor: check_interval_secs is ", options_.check_interval_secs,
                              "; it must be 0 or more"));
}

void ValidationMonitor::begin(Graph& graph) {
  const Variable step = get_global_step(graph);
  if (!step) throw FailedPrecondition("ValidationMonitor: the graph has no global step; make one first");
  global_step_ = step.value();
  last_step_.reset();
  early_stopped_ = false;
}

void ValidationMonitor::after_create_session(Session&, Coordinator& coord) { coord_ = &coord; }

std::optional<SessionRunArgs> ValidationMonitor::before_run(SessionRunContext&) {
  return SessionRunArgs{.fetches = {global_step_}};
}

void ValidationMonitor::after_run(SessionRunContext& context, const SessionRunValues& values) {
  const std::int64_t step = step_number(values.results[0], "global_step");
  if (!is_due(step)) return;
  last_step_ = step;
  const std::string newest = estimator_->latest_checkpoint();
  if (newest.empty() || newest == seen_) return;
  const EvaluationResult result = estimator_->evaluate(options_.input_fn, {.steps = options_.eval_steps,
                                                                           .hooks = options_.hooks,
                                                                           .checkpoint_path = newest,
                                                                           .name = options_.name,
                                                                           .metrics = options_.metrics,
                                                                           .coord = coord_});
  if (result.empty()) return;  // a stop came first
  seen_ = newest;
  log_info(cat("Validation (step ", step, "): ", result.text()));
  judge(result, step, context);
}

bool ValidationMonitor::is_due(std::int64_t step) {
  if (!last_step_) last_step_ = step - 1;
  if (!has_passed(*last_step_, step, options_.every_n_steps)) return false;
  constexpr double kNanos = 1e9;
  const std::int64_t now = estimator_->config().clock().steady_nanos();
  if (looked_nanos_ && static_cast<double>(now - *looked_nanos_) < options_.check_interval_secs * kNanos)
    return false;
  looked_nanos_ = now;
  return true;
}

bool ValidationMonitor::is_better(double value) const {
  if (std::isnan(value)) return false;
  if (!best_value_) return true;
  return options_.early_stopping_metric_minimize ? value < *best_value_ : value > *best_value_;
}

void ValidationMonitor::judge(const EvaluationResult& result, std::int64_t step, SessionRunContext& context) {
  if (!options_.early_stopping_rounds) return;
  const double value = result.number(options_.early_stopping_metric);
  if (is_better(value)) {
    best_value_ = value;
    best_step_ = step;
    best_ = result;
  }
  if (!judged_since_) judged_since_ = step;
  const std::int64_t without = step - best_step_.value_or(*judged_since_);
  if (without < *options_.early_stopping_rounds) return;
  early_stopped_ = true;
  const std::string best =
      best_step_ ? cat("was best at step ", *best_step_, " with ", *best_value_) : "was never a number";
  context.request_stop(
      cat(options_.early_stopping_metric, " ", best, " and has not been better for ", without, " steps"));
}

}  // namespace runnel
