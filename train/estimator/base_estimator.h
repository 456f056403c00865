// What Experiment and train_and_evaluate need of an estimator, so that other implementations than Estimator
// may take its place. Source: the interfaces Trainable and Evaluable of contrib.learn (behaviours 23.1).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "train/estimator/evaluation_result.h"
#include "train/estimator/model_fn.h"
#include "train/monitored/checkpoint_saver_hook.h"
#include "train/monitored/hook.h"
#include "train/supervisor/coordinator.h"

namespace runnel {

// Makes a metric of a model's predictions and the labels.
using MetricFunction = std::function<Metric(const NamedOutputs& predictions, const NamedOutputs& labels)>;
using MetricFunctions = std::map<std::string, MetricFunction>;

using SavingListeners = std::vector<std::shared_ptr<CheckpointSaverListener>>;

struct TrainOptions {
  std::vector<Hook> hooks = {};
  std::optional<std::int64_t> steps = {};      // so many more
  std::optional<std::int64_t> max_steps = {};  // until the global step is this
  SavingListeners saving_listeners = {};       // told of each checkpoint
  // Borrowed. Its stop ends the training, and signals are its owner's affair; none: the training's own.
  Coordinator* coord = nullptr;
};

struct EvaluateOptions {
  std::optional<std::int64_t> steps = {};  // batches; none: until the input ends
  std::vector<Hook> hooks = {};
  std::string checkpoint_path = "";  // "": the newest in model_dir
  std::string name = "";             // results go to eval_NAME, or eval
  MetricFunctions metrics = {};      // besides the model's own; for those with takes_metrics()
  Coordinator* coord = nullptr;      // borrowed; its stop ends the evaluation, whose result is empty then
};

class BaseEstimator {
 public:
  virtual ~BaseEstimator() = default;

  virtual const std::string& model_dir() const = 0;
  virtual const RunConfig& config() const = 0;
  // True if evaluate takes metrics. Those of an Estimator are in its model function.
  virtual bool takes_metrics() const = 0;

  virtual BaseEstimator& train(const InputFunction& input_fn, const TrainOptions& options) = 0;
  virtual EvaluationResult evaluate(const InputFunction& input_fn, const EvaluateOptions& options) = 0;

  // The prefix of the newest checkpoint in model_dir; "" if there is none yet.
  virtual std::string latest_checkpoint() const;
  // The global step in that checkpoint; 0 if there is none.
  virtual std::int64_t trained_steps() const;
};

// What an evaluation and the exports after it gave.
struct TrainAndEvaluateResult {
  EvaluationResult evaluation = {};       // empty if a signal came first
  std::vector<std::string> exports = {};  // what each strategy or exporter wrote
};

}  // namespace runnel
