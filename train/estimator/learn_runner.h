// Runs an Experiment by the name of what to do with it, so that one program serves all of them. Source:
// contrib.learn's learn_runner (behaviours 23.4).
#pragma once

#include <concepts>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "train/estimator/experiment.h"
#include "train/estimator/run_config.h"

namespace runnel::learn_runner {

// Makes the experiment: of a directory, or of a RunConfig and hyperparameters, of which there may be none.
class ExperimentFunction {
 public:
  using OfDirectory = std::function<Experiment(const std::string& output_dir)>;
  using OfConfig = std::function<Experiment(const RunConfig& run_config, const Params& hparams)>;

  template <class F>
  requires(std::is_invocable_r_v<Experiment, F&, const std::string&> &&
           !std::is_invocable_v<F&, const RunConfig&, const Params&>)  //
      ExperimentFunction(F function)
      : function_(OfDirectory(std::move(function))) {}
  template <class F>
  requires std::is_invocable_r_v<Experiment, F&, const RunConfig&, const Params&> ExperimentFunction(
      F function)
      : function_(OfConfig(std::move(function))) {}

  // Null if it is of the other kind.
  const OfDirectory* of_directory() const { return std::get_if<OfDirectory>(&function_); }
  const OfConfig* of_config() const { return std::get_if<OfConfig>(&function_); }

 private:
  std::variant<OfDirectory, OfConfig> function_;
};

struct RunOptions {
  std::string output_dir = "";               // for a function of a directory
  std::string schedule = "";                 // a method of Experiment; "": train_and_evaluate
  std::optional<RunConfig> run_config = {};  // for a function of a RunConfig; it must have a model_dir
  std::optional<Params> hparams = {};
};

// Calls the function, then the experiment's method of that name: train, evaluate, continuous_eval,
// continuous_eval_on_train_data, train_and_evaluate, continuous_train_and_eval, local_run, test,
// run_std_server. Returns what the method found. Throws InvalidArgument unless there is exactly one of
// output_dir and run_config, and the one that the function takes; for a schedule that is none, naming those
// that are; FailedPrecondition if the experiment's estimator has not the model_dir of the run_config.
TrainAndEvaluateResult run(const ExperimentFunction& experiment_fn, const RunOptions& options);

// The names of all schedules, sorted.
std::vector<std::string> schedules();

// Tries one set of hyperparameters after the other, for `tune`.
class Tuner {
 public:
  virtual ~Tuner() = default;
  virtual bool next_trial() = 0;  // false when there are no more
  virtual void run_experiment(const ExperimentFunction& experiment_fn) = 0;
};

// Runs the tuner's trials until there are no more.
void tune(const ExperimentFunction& experiment_fn, Tuner& tuner);

}  // namespace runnel::learn_runner
