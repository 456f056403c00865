// All that training and evaluating a model takes, in one object that knows how to run both: once, in turn, or
// for ever beside a training that another process does. Source: contrib.learn's Experiment (behaviours 23);
// README.md has what differs.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "train/estimator/base_estimator.h"
#include "train/estimator/export_strategy.h"

namespace runnel {

struct Stoppable;

// The arguments of contrib.learn's Experiment in their order. None of the functions is called before a method
// that needs it is.
struct ExperimentOptions {
  std::shared_ptr<BaseEstimator> estimator = {};
  InputFunction train_input_fn = {};
  InputFunction eval_input_fn = {};                  // must end if eval_steps is none
  std::optional<MetricFunctions> eval_metrics = {};  // none for an Estimator, whose model function has them
  std::optional<std::int64_t> train_steps = {};      // the global step to train to; none: for ever
  std::optional<std::int64_t> eval_steps = 100;      // batches; none: until the input ends
  std::vector<Hook> train_monitors = {};
  std::vector<Hook> eval_hooks = {};
  std::optional<std::int64_t> local_eval_frequency = {};  // of local_run; none: at the end only
  double eval_delay_secs = 120;                           // before the first evaluation
  double continuous_eval_throttle_secs = 60;              // between the starts of two evaluations
  // Of train_and_evaluate: the fewest steps between two evaluations, each of a new checkpoint; 0: after the
  // training only; none: 1, or 1000 if model_dir begins with "gs://".
  std::optional<std::int64_t> min_eval_frequency = {};
  bool delay_workers_by_global_step = false;  // by time otherwise
  std::vector<ExportStrategy> export_strategies = {};
  // Of continuous_train_and_eval; none: a tenth of train_steps, at least 1, or 1000 without train_steps.
  std::optional<std::int64_t> train_steps_per_iteration = {};
};

// Asked before each round with the result of the last one, empty at first or when there was nothing to
// evaluate; false ends it.
using ContinuousEvalPredicate = std::function<bool(const EvaluationResult& last)>;

struct ContinuousEvalOptions {
  std::optional<double> delay_secs = {};           // none: eval_delay_secs
  std::optional<double> throttle_delay_secs = {};  // none: continuous_eval_throttle_secs
  bool evaluate_checkpoint_only_once = true;
  ContinuousEvalPredicate continuous_eval_predicate_fn = {};  // none: always true
};

// One method at a time. Every method, also one that waits, ends soon after SIGTERM or Ctrl-C: the training
// saves its last step, and the process ends with 128 + signal, unless the RunConfig's handle_signals is
// false. All waiting goes by the RunConfig's clock.
class Experiment {
 public:
  // Throws InvalidArgument for an argument that is missing or out of range.
  explicit Experiment(ExperimentOptions options);

  BaseEstimator& estimator() const { return *options_.estimator; }
  const std::optional<MetricFunctions>& eval_metrics() const { return options_.eval_metrics; }
  std::optional<std::int64_t> train_steps() const { return options_.train_steps; }
  std::optional<std::int64_t> eval_steps() const { return options_.eval_steps; }

  // More hooks for the training.
  void extend_train_hooks(const std::vector<Hook>& additional_hooks);
  // Puts others in place of the export strategies and returns those.
  std::vector<ExportStrategy> reset_export_strategies(std::vector<ExportStrategy> strategies = {});

  // Trains up to train_steps, after a delay: of delay_secs, or, for a worker that is not the first, so that
  // workers start one after the other (worker_delay.h).
  BaseEstimator& train(std::optional<double> delay_secs = {});
  // Evaluates the newest checkpoint once, after a delay. `name` is of the folder: eval_NAME.
  EvaluationResult evaluate(std::optional<double> delay_secs = {}, const std::string& name = "one_pass");
  // Evaluates each new checkpoint as it comes, until the predicate says no or one of train_steps was
  // evaluated; without both, for ever. Returns the last result that there was.
  EvaluationResult continuous_eval(const ContinuousEvalOptions& options = {});
  EvaluationResult continuous_eval_on_train_data(const ContinuousEvalOptions& options = {});
  // Trains, evaluates new checkpoints meanwhile (min_eval_frequency), evaluates the last one and exports.
  TrainAndEvaluateResult train_and_evaluate();
  // Trains some steps and evaluates, in turn, each time in a fresh graph; exports at the end.
  TrainAndEvaluateResult continuous_train_and_eval(const ContinuousEvalPredicate& predicate = {});
  // train_and_evaluate with local_eval_frequency. Deprecated in TensorFlow.
  TrainAndEvaluateResult local_run();
  // One step of training, one of evaluation, and the exports: whether everything is wired up.
  TrainAndEvaluateResult test();
  // Throws Unimplemented: there are no clusters yet.
  void run_std_server();

 private:
  const RunConfig& config() const { return options_.estimator->config(); }
  bool wait(Stoppable& call, double seconds, const std::string& before_what) const;
  bool wait_for_turn(Stoppable& call, std::optional<double> delay_secs, std::vector<Hook>& hooks) const;
  void call_train(Stoppable& call, TrainOptions options) const;
  EvaluationResult call_evaluate(Stoppable& call, const InputFunction& input_fn, const std::string& name,
                                 std::optional<std::int64_t> steps,
                                 const std::string& checkpoint_path = "") const;
  std::vector<std::string> maybe_export(const EvaluationResult& result,
                                        const std::string& checkpoint_path = "") const;
  bool has_trained_enough(const EvaluationResult& result) const;
  EvaluationResult evaluate_new_checkpoints(const InputFunction& input_fn, const std::string& name,
                                            const ContinuousEvalOptions& options);
  TrainAndEvaluateResult train_and_evaluate_every(std::int64_t min_eval_frequency);

  ExperimentOptions options_;
};

}  // namespace runnel
