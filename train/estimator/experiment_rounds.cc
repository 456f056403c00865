// The methods of Experiment that go round and round: evaluating each new checkpoint of a training that runs
// elsewhere, and training and evaluating in turn.
#include <algorithm>
#include <limits>
#include <utility>

#include "graph/error.h"
#include "graph/log.h"
#include "train/checkpoint/stored_checkpoints.h"
#include "train/estimator/experiment.h"
#include "train/estimator/stoppable.h"

namespace runnel {
namespace {

constexpr double kNanos = 1e9;
constexpr double kWarningSecs = 600;  // a warning that nothing is new comes no more often, as in TensorFlow
constexpr double kLeastWaitSecs = 1;  // with nothing to evaluate, also without a throttle
constexpr std::int64_t kDefaultStepsPerIteration = 1000;
constexpr std::int64_t kIterations = 10;  // of a training whose length is known

// Says now and then that there is nothing to evaluate.
class PatientWarning {
 public:
  explicit PatientWarning(Clock& clock) : clock_(&clock) {}
  void say(const std::string& what) {
    if (clock_->steady_nanos() <= quiet_until_) return;
    quiet_until_ = clock_->deadline_in(kWarningSecs);
    log_warning(what);
  }
  void clear() { quiet_until_ = kNever; }

 private:
  static constexpr std::int64_t kNever = -1;
  Clock* clock_;
  std::int64_t quiet_until_ = kNever;
};

}  // namespace

EvaluationResult Experiment::continuous_eval(const ContinuousEvalOptions& options) {
  return evaluate_new_checkpoints(options_.eval_input_fn, "continuous", options);
}

EvaluationResult Experiment::continuous_eval_on_train_data(const ContinuousEvalOptions& options) {
  return evaluate_new_checkpoints(options_.train_input_fn, "continuous_on_train_data", options);
}

EvaluationResult Experiment::evaluate_new_checkpoints(const InputFunction& input_fn, const std::string& name,
                                                      const ContinuousEvalOptions& o) {
  const double throttle = o.throttle_delay_secs.value_or(options_.continuous_eval_throttle_secs);
  const double delay = o.delay_secs.value_or(options_.eval_delay_secs);
  if (!(throttle >= 0) || !(delay >= 0))
    throw InvalidArgument(cat("Experiment: delay_secs is ", delay, " and throttle_delay_secs is ", throttle,
                              "; both must be 0 or more"));
  return Stoppable::run(config(), [&](Stoppable& call) {
    Clock& clock = config().clock();
    PatientWarning warning(clock);
    EvaluationResult last, latest;  // of the last round, and the last that has values
    std::string previous;
    if (!wait(call, delay, "evaluation")) return latest;
    while (!call.stopped() && (!o.continuous_eval_predicate_fn || o.continuous_eval_predicate_fn(last))) {
      if (has_trained_enough(last)) {
        log_info(cat("Exiting continuous evaluation: global step ", last.global_step(), " of ",
                     *options_.train_steps, " was evaluated"));
        break;
      }
      const std::int64_t start = clock.steady_nanos();
      const std::string newest = estimator().latest_checkpoint();
      last = {};
      if (newest.empty()) {
        warning.say("There is no checkpoint yet; the evaluation starts when there is one.");
      } else if (o.evaluate_checkpoint_only_once && newest == previous) {
        warning.say("There is no new checkpoint to evaluate.");
      } else {
        last = call_evaluate(call, input_fn, name, options_.eval_steps, newest);
        if (call.stopped()) break;
        maybe_export(last, newest);
        warning.clear();
        previous = newest;
        latest = last;
      }
      if (has_trained_enough(last)) continue;
      const double passed = static_cast<double>(clock.steady_nanos() - start) / kNanos;
      const double rest = (last.empty() ? std::max(throttle, kLeastWaitSecs) : throttle) - passed;
      if (rest > 0) call.coord.wait_for_stop(rest);
    }
    return latest;
  });
}

TrainAndEvaluateResult Experiment::continuous_train_and_eval(const ContinuousEvalPredicate& predicate) {
  std::int64_t each = kDefaultStepsPerIteration;
  if (options_.train_steps_per_iteration)
    each = *options_.train_steps_per_iteration;
  else if (options_.train_steps)
    each = std::max<std::int64_t>(1, *options_.train_steps / kIterations);
  const std::int64_t most = options_.train_steps.value_or(std::numeric_limits<std::int64_t>::max());
  return Stoppable::run(config(), [&](Stoppable& call) {
    TrainAndEvaluateResult all;
    while (!call.stopped() && (!predicate || predicate(all.evaluation))) {
      if (has_trained_enough(all.evaluation)) break;
      const std::int64_t step = estimator().trained_steps();
      log_info(cat("Training for ", std::min(each, most - std::min(step, most)), " steps"));
      if (step < most)
        call_train(call, {.hooks = options_.train_monitors, .max_steps = step + std::min(each, most - step)});
      if (call.stopped()) break;
      all.evaluation = call_evaluate(call, options_.eval_input_fn, "one_pass", options_.eval_steps,
                                     estimator().latest_checkpoint());
      if (step < most && all.evaluation.has("global_step") && all.evaluation.global_step() <= step) {
        log_warning(cat("The training made no step beyond ", step, "; the rounds end here"));
        break;
      }
    }
    if (!call.stopped()) all.exports = maybe_export(all.evaluation);
    return all;
  });
}

}  // namespace runnel
