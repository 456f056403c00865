// See evaluating_listener.h.
#include "train/estimator/evaluating_listener.h"

#include <utility>

#include "graph/error.h"
#include "graph/log.h"

namespace runnel {

EvaluatingListener::EvaluatingListener(EvaluatingListenerOptions options) : options_(std::move(options)) {
  if (!options_.clock) options_.clock = &system_clock();
}

bool EvaluatingListener::after_save(Session&, std::int64_t step) {
  if (!first_step_) {  // what training started from
    first_step_ = step;
    return false;
  }
  if (options_.coord && options_.coord->should_stop()) return false;
  if (evaluated_step_ == step) return false;
  if (!is_due(step)) {
    log_info(cat("Skipping the evaluation of the checkpoint of step ", step, ": the last one is less than ",
                 options_.throttle_secs, " secs or ", options_.min_steps, " steps ago"));
    return false;
  }
  started_nanos_ = options_.clock->steady_nanos();
  EvaluationResult result = options_.evaluate();
  if (result.empty()) return false;
  result_ = std::move(result);
  evaluated_step_ = step;
  return false;
}

bool EvaluatingListener::is_due(std::int64_t step) const {
  if (step - evaluated_step_.value_or(*first_step_) < options_.min_steps) return false;
  if (!started_nanos_) return true;
  constexpr double kNanos = 1e9;
  const auto passed = static_cast<double>(options_.clock->steady_nanos() - *started_nanos_);
  return passed >= options_.throttle_secs * kNanos;
}

}  // namespace runnel
