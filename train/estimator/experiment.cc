// See experiment.h. The loops of continuous evaluation are in experiment_rounds.cc.
#include "train/estimator/experiment.h"

#include <cmath>
#include <utility>

#include "graph/error.h"
#include "graph/log.h"
#include "train/checkpoint/checkpoint_state.h"
#include "train/estimator/evaluating_listener.h"
#include "train/estimator/stoppable.h"
#include "train/estimator/worker_delay.h"
#include "train/monitored/global_step_waiter_hook.h"

namespace runnel {
namespace {

void require_positive(const std::optional<std::int64_t>& value, const char* argument) {
  if (value && *value <= 0)
    throw InvalidArgument(cat("Experiment: ", argument, " is ", *value, "; it must be over 0, or left out"));
}

void require_seconds(double value, const char* argument) {
  if (!(value >= 0))
    throw InvalidArgument(cat("Experiment: ", argument, " is ", value, "; it must be 0 or more"));
}

void check(const ExperimentOptions& o) {
  if (!o.estimator) throw InvalidArgument("Experiment: estimator is missing");
  if (!o.train_input_fn) throw InvalidArgument("Experiment: train_input_fn is missing");
  if (!o.eval_input_fn) throw InvalidArgument("Experiment: eval_input_fn is missing");
  if (o.eval_metrics && !o.estimator->takes_metrics())
    throw InvalidArgument(
        "Experiment: eval_metrics must be left out with this estimator; return them as eval_metric_ops from "
        "its "
        "model function");
  require_positive(o.train_steps, "train_steps");
  require_positive(o.eval_steps, "eval_steps");
  require_positive(o.local_eval_frequency, "local_eval_frequency");
  require_positive(o.train_steps_per_iteration, "train_steps_per_iteration");
  if (o.min_eval_frequency && *o.min_eval_frequency < 0)
    throw InvalidArgument(cat("Experiment: min_eval_frequency is ", *o.min_eval_frequency,
                              "; it must be 0 or more, or left out"));
  require_seconds(o.eval_delay_secs, "eval_delay_secs");
  require_seconds(o.continuous_eval_throttle_secs, "continuous_eval_throttle_secs");
}

void check_strategies(const std::vector<ExportStrategy>& strategies) {
  for (const ExportStrategy& strategy : strategies) require_exportable(strategy);
}

}  // namespace

Experiment::Experiment(ExperimentOptions options) : options_(std::move(options)) {
  check(options_);
  check_strategies(options_.export_strategies);
}

void Experiment::extend_train_hooks(const std::vector<Hook>& additional_hooks) {
  options_.train_monitors.insert(options_.train_monitors.end(), additional_hooks.begin(),
                                 additional_hooks.end());
}

std::vector<ExportStrategy> Experiment::reset_export_strategies(std::vector<ExportStrategy> strategies) {
  check_strategies(strategies);
  return std::exchange(options_.export_strategies, std::move(strategies));
}

BaseEstimator& Experiment::train(std::optional<double> delay_secs) {
  if (delay_secs) require_seconds(*delay_secs, "delay_secs");
  return *Stoppable::run(config(), [&](Stoppable& call) {
    std::vector<Hook> hooks = options_.train_monitors;
    if (wait_for_turn(call, delay_secs, hooks))
      call_train(call, {.hooks = std::move(hooks), .max_steps = options_.train_steps});
    return options_.estimator;
  });
}

EvaluationResult Experiment::evaluate(std::optional<double> delay_secs, const std::string& name) {
  if (delay_secs) require_seconds(*delay_secs, "delay_secs");
  return Stoppable::run(config(), [&](Stoppable& call) {
    if (!wait(call, delay_secs.value_or(options_.eval_delay_secs), "evaluation")) return EvaluationResult{};
    return call_evaluate(call, options_.eval_input_fn, name, options_.eval_steps);
  });
}

TrainAndEvaluateResult Experiment::train_and_evaluate() {
  constexpr std::int64_t kStepsOnRemoteStorage = 1000;
  const bool remote = estimator().model_dir().starts_with("gs://");
  return train_and_evaluate_every(options_.min_eval_frequency.value_or(remote ? kStepsOnRemoteStorage : 1));
}

TrainAndEvaluateResult Experiment::local_run() {
  return train_and_evaluate_every(options_.local_eval_frequency.value_or(0));
}

TrainAndEvaluateResult Experiment::train_and_evaluate_every(std::int64_t min_eval_frequency) {
  return Stoppable::run(config(), [&](Stoppable& call) {
    const std::string folder_eval;
    const auto listener = std::make_shared<EvaluatingListener>(EvaluatingListenerOptions{
        .evaluate =
            [&] { return call_evaluate(call, options_.eval_input_fn, folder_eval, options_.eval_steps); },
        .min_steps = min_eval_frequency,
        .clock = &config().clock(),
        .coord = &call.coord});
    const bool saves = config().save_checkpoints_secs() || config().save_checkpoints_steps();
    SavingListeners listeners;
    if (min_eval_frequency > 0 && saves) listeners.push_back(listener);
    call_train(call, {.hooks = options_.train_monitors,
                      .max_steps = options_.train_steps,
                      .saving_listeners = std::move(listeners)});
    TrainAndEvaluateResult all;
    if (call.stopped()) return all;
    const std::string newest = estimator().latest_checkpoint();
    const bool evaluated = !newest.empty() && listener->result().checkpoint_path == newest;
    all.evaluation = evaluated
                         ? listener->result()
                         : call_evaluate(call, options_.eval_input_fn, folder_eval, options_.eval_steps);
    all.exports = maybe_export(all.evaluation);
    return all;
  });
}

TrainAndEvaluateResult Experiment::test() {
  return Stoppable::run(config(), [&](Stoppable& call) {
    call_train(call, {.hooks = options_.train_monitors, .steps = 1});
    TrainAndEvaluateResult all;
    if (call.stopped()) return all;
    all.evaluation = call_evaluate(call, options_.eval_input_fn, "one_pass", 1);
    all.exports = maybe_export(all.evaluation);
    return all;
  });
}

void Experiment::run_std_server() {
  throw Unimplemented(
      "Experiment::run_std_server: servers of a cluster are not there yet; use train_and_evaluate in one "
      "process");
}

bool Experiment::wait(Stoppable& call, double seconds, const std::string& before_what) const {
  if (seconds <= 0) return !call.stopped();
  log_info(cat("Waiting ", seconds, " secs before starting ", before_what, "."));
  return !call.coord.wait_for_stop(seconds);
}

bool Experiment::wait_for_turn(Stoppable& call, std::optional<double> delay_secs,
                               std::vector<Hook>& hooks) const {
  const std::int64_t task = config().task_id();
  if (!delay_secs && options_.delay_workers_by_global_step) {
    hooks.push_back(global_step_waiter(worker_start_step(task)));
    delay_secs = 0;
  }
  return wait(call, delay_secs.value_or(worker_start_delay(task)), "training");
}

void Experiment::call_train(Stoppable& call, TrainOptions options) const {
  options.coord = &call.coord;
  estimator().train(options_.train_input_fn, options);
}

EvaluationResult Experiment::call_evaluate(Stoppable& call, const InputFunction& input_fn,
                                           const std::string& name, std::optional<std::int64_t> steps,
                                           const std::string& checkpoint_path) const {
  return estimator().evaluate(input_fn, {.steps = steps,
                                         .hooks = options_.eval_hooks,
                                         .checkpoint_path = checkpoint_path,
                                         .name = name,
                                         .metrics = options_.eval_metrics.value_or(MetricFunctions{}),
                                         .coord = &call.coord});
}

std::vector<std::string> Experiment::maybe_export(const EvaluationResult& result,
                                                  const std::string& checkpoint_path) const {
  std::vector<std::string> exports;
  if (result.empty()) return exports;
  for (const ExportStrategy& strategy : options_.export_strategies)
    exports.push_back(
        strategy.export_fn({.estimator = estimator(),
                            .export_dir = join_path(estimator().model_dir(), "export/" + strategy.name),
                            .checkpoint_path = checkpoint_path,
                            .result = result}));
  return exports;
}

bool Experiment::has_trained_enough(const EvaluationResult& result) const {
  return options_.train_steps && result.has("global_step") && result.global_step() >= *options_.train_steps;
}

}  // namespace runnel
