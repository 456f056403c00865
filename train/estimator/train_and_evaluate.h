// Trains an Estimator and evaluates it meanwhile, in one process: what learn_runner and Experiment became.
// Source: tf.estimator.train_and_evaluate, TrainSpec and EvalSpec (behaviours 22.3 to 22.5); what needs a
// cluster is left out.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "train/estimator/estimator.h"
#include "train/estimator/exporter.h"

namespace runnel {

struct TrainSpec {
  InputFunction input_fn = {};
  std::optional<std::int64_t> max_steps = {};  // the global step to train to; none: for ever
  std::vector<Hook> hooks = {};
  SavingListeners saving_listeners = {};
};

struct EvalSpec {
  InputFunction input_fn = {};
  std::optional<std::int64_t> steps = 100;  // batches; none: until the input ends
  std::string name = "";                    // results go to eval_NAME, or eval
  std::vector<Hook> hooks = {};
  std::vector<std::shared_ptr<Exporter>> exporters = {};  // their names differ
  double start_delay_secs = 120;  // of evaluators of a cluster: no difference here, as in TensorFlow
  double throttle_secs = 600;     // between the starts of two evaluations
};

// Trains to max_steps. Evaluates, and exports, when a checkpoint is saved, but for the one that training
// starts from, and no sooner than throttle_secs after the last time; and at the end, if the last checkpoint
// was not evaluated yet. A signal ends both: the last step is saved, and the process ends with 128 + signal,
// unless the RunConfig says not to. Throws InvalidArgument for a spec that is incomplete or out of range.
TrainAndEvaluateResult train_and_evaluate(Estimator& estimator, const TrainSpec& train_spec,
                                          const EvalSpec& eval_spec);

}  // namespace runnel
