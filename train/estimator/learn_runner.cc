// See learn_runner.h.
#include "train/estimator/learn_runner.h"

#include <map>

#include "graph/error.h"

namespace runnel::learn_runner {
namespace {

using Method = std::function<TrainAndEvaluateResult(Experiment&)>;

const std::map<std::string, Method>& methods() {
  static const std::map<std::string, Method> all = {
      {"train",
       [](Experiment& e) {
         e.train();
         return TrainAndEvaluateResult{};
       }},
      {"evaluate",
       [](Experiment& e) {
         return TrainAndEvaluateResult{e.evaluate(), {}};
       }},
      {"continuous_eval",
       [](Experiment& e) {
         return TrainAndEvaluateResult{e.continuous_eval(), {}};
       }},
      {"continuous_eval_on_train_data",
       [](Experiment& e) {
         return TrainAndEvaluateResult{e.continuous_eval_on_train_data(), {}};
       }},
      {"train_and_evaluate", [](Experiment& e) { return e.train_and_evaluate(); }},
      {"continuous_train_and_eval", [](Experiment& e) { return e.continuous_train_and_eval(); }},
      {"local_run", [](Experiment& e) { return e.local_run(); }},
      {"test", [](Experiment& e) { return e.test(); }},
      {"run_std_server",
       [](Experiment& e) {
         e.run_std_server();
         return TrainAndEvaluateResult{};
       }},
  };
  return all;
}

const Method& method_of(const std::string& schedule) {
  const auto at = methods().find(schedule.empty() ? "train_and_evaluate" : schedule);
  if (at != methods().end()) return at->second;
  std::string names;
  for (const std::string& name : schedules()) names += (names.empty() ? "" : ", ") + name;
  throw InvalidArgument(cat("learn_runner: there is no schedule '", schedule, "'; there are ", names));
}

Experiment experiment_of_config(const ExperimentFunction& experiment_fn, const RunOptions& o) {
  if (!experiment_fn.of_config())
    throw InvalidArgument(
        "learn_runner: run_config is given, but the function takes a directory; give output_dir");
  const RunConfig& config = *o.run_config;
  if (config.model_dir().empty()) throw InvalidArgument("learn_runner: run_config has no model_dir");
  Experiment experiment = (*experiment_fn.of_config())(config, o.hparams.value_or(Params{}));
  if (experiment.estimator().model_dir() != config.model_dir())
    throw FailedPrecondition(cat("learn_runner: the experiment's estimator has the model_dir '",
                                 experiment.estimator().model_dir(), "', but run_config says '",
                                 config.model_dir(),
                                 "'; make the estimator with the run_config that the function is given"));
  return experiment;
}

Experiment experiment_of(const ExperimentFunction& experiment_fn, const RunOptions& o) {
  if (o.output_dir.empty() == !o.run_config)
    throw InvalidArgument("learn_runner: give either output_dir or run_config");
  if (o.run_config) return experiment_of_config(experiment_fn, o);
  if (o.hparams) throw InvalidArgument("learn_runner: hparams go with run_config, not with output_dir");
  if (!experiment_fn.of_directory())
    throw InvalidArgument(
        "learn_runner: output_dir is given, but the function takes a RunConfig; give run_config");
  return (*experiment_fn.of_directory())(o.output_dir);
}

}  // namespace

TrainAndEvaluateResult run(const ExperimentFunction& experiment_fn, const RunOptions& options) {
  const Method& method = method_of(options.schedule);
  Experiment experiment = experiment_of(experiment_fn, options);
  return method(experiment);
}

std::vector<std::string> schedules() {
  std::vector<std::string> names;
  for (const auto& [name, method] : methods()) names.push_back(name);
  return names;
}

void tune(const ExperimentFunction& experiment_fn, Tuner& tuner) {
  while (tuner.next_trial()) tuner.run_experiment(experiment_fn);
}

}  // namespace runnel::learn_runner
