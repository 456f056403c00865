// See train_and_evaluate.h.
#include "train/estimator/train_and_evaluate.h"

#include <set>
#include <utility>

#include "graph/error.h"
#include "graph/log.h"
#include "train/estimator/evaluating_listener.h"
#include "train/estimator/export_strategy.h"
#include "train/estimator/stoppable.h"

namespace runnel {
namespace {

void check(const TrainSpec& spec) {
  if (!spec.input_fn) throw InvalidArgument("TrainSpec: input_fn is missing");
  if (spec.max_steps && *spec.max_steps <= 0)
    throw InvalidArgument(cat("TrainSpec: max_steps is ", *spec.max_steps, "; it must be over 0"));
}

void check(const EvalSpec& spec) {
  if (!spec.input_fn) throw InvalidArgument("EvalSpec: input_fn is missing");
  if (spec.steps && *spec.steps <= 0)
    throw InvalidArgument(cat("EvalSpec: steps is ", *spec.steps, "; it must be over 0"));
  if (!(spec.start_delay_secs >= 0) || !(spec.throttle_secs >= 0))
    throw InvalidArgument(cat("EvalSpec: start_delay_secs is ", spec.start_delay_secs,
                              " and throttle_secs is ", spec.throttle_secs, "; both must be 0 or more"));
  std::set<std::string> names;
  for (const auto& exporter : spec.exporters) {
    if (!exporter) throw InvalidArgument("EvalSpec: an exporter is empty");
    require_folder_name(exporter->name(), "EvalSpec");
    if (!names.insert(exporter->name()).second)
      throw InvalidArgument(cat("EvalSpec: two exporters are called '", exporter->name(), "'"));
  }
}

// The evaluations of one call, during the training and after it.
class Evaluator {
 public:
  Evaluator(Estimator& estimator, const TrainSpec& train_spec, const EvalSpec& spec, Coordinator& coord)
      : estimator_(estimator), max_steps_(train_spec.max_steps), spec_(spec), coord_(coord) {}

  EvaluationResult evaluate_and_export() {
    EvaluationResult result = estimator_.evaluate(
        spec_.input_fn, {.steps = spec_.steps, .hooks = spec_.hooks, .name = spec_.name, .coord = &coord_});
    if (!result.empty()) {
      result_.evaluation = result;
      export_all(max_steps_ && result.global_step() >= *max_steps_);
    }
    return result;
  }
  // After the training.
  TrainAndEvaluateResult finish() {
    if (coord_.should_stop()) return {};
    const bool evaluated = result_.evaluation.checkpoint_path == estimator_.latest_checkpoint();
    if (result_.evaluation.empty() || !evaluated) evaluate_and_export();
    return result_;
  }

 private:
  void export_all(bool final_export) {
    result_.exports.clear();
    for (const auto& exporter : spec_.exporters)
      result_.exports.push_back(exporter->export_model(
          {.estimator = estimator_,
           .export_path = join_path(estimator_.model_dir(), "export/" + exporter->name()),
           .checkpoint_path = result_.evaluation.checkpoint_path,
           .eval_result = result_.evaluation,
           .is_the_final_export = final_export}));
  }

  Estimator& estimator_;
  const std::optional<std::int64_t> max_steps_;
  const EvalSpec& spec_;
  Coordinator& coord_;
  TrainAndEvaluateResult result_;
};

}  // namespace

TrainAndEvaluateResult train_and_evaluate(Estimator& estimator, const TrainSpec& train_spec,
                                          const EvalSpec& eval_spec) {
  check(train_spec);
  check(eval_spec);
  const RunConfig& config = estimator.config();
  if (!config.save_checkpoints_secs() && !config.save_checkpoints_steps() &&
      train_spec.saving_listeners.empty())
    log_info(
        "train_and_evaluate: the RunConfig saves nothing, so the evaluation comes after the training only");
  return Stoppable::run(config, [&](Stoppable& call) {
    Evaluator evaluator(estimator, train_spec, eval_spec, call.coord);
    TrainOptions options{.hooks = train_spec.hooks,
                         .max_steps = train_spec.max_steps,
                         .saving_listeners = train_spec.saving_listeners,
                         .coord = &call.coord};
    if (config.save_checkpoints_secs() || config.save_checkpoints_steps())
      options.saving_listeners.push_back(std::make_shared<EvaluatingListener>(
          EvaluatingListenerOptions{.evaluate = [&] { return evaluator.evaluate_and_export(); },
                                    .throttle_secs = eval_spec.throttle_secs,
                                    .clock = &config.clock(),
                                    .coord = &call.coord}));
    estimator.train(train_spec.input_fn, options);
    return evaluator.finish();
  });
}

}  // namespace runnel
