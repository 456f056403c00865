// What a user of an Estimator writes: a function that makes the input and one that makes the model, each into
// a fresh graph, and what the latter hands back. Source: tf.estimator.EstimatorSpec and ModeKeys (behaviours
// 22.2).
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "graph/dataflow.h"
#include "summary/values/hparams.h"
#include "train/estimator/named_outputs.h"
#include "train/estimator/run_config.h"
#include "train/metrics/metric.h"
#include "train/monitored/hook.h"
#include "train/monitored/scaffold.h"

namespace runnel {

// What a graph is for.
enum class ModeKeys { kTrain, kEval, kPredict };

// TensorFlow's texts: "train", "eval", "infer".
const char* name_of(ModeKeys mode);

// What a model is made with: widths, rates, names.
using Params = std::map<std::string, hp::Value>;

// One batch as tensors of the graph: constants, or what a queue gives. An input that ends throws OutOfRange
// from the step, as a closed queue does.
struct InputBatch {
  NamedOutputs features = {};
  NamedOutputs labels = {};      // may be empty, and is for predictions
  std::vector<Hook> hooks = {};  // for every run on this input: FeedFnHook, say
};

// Called once for each graph.
using InputFunction = std::function<InputBatch(Graph& graph)>;

// What a model function gets. Everything is borrowed for the call. The global step exists already.
struct ModelContext {
  Graph& graph;
  const NamedOutputs& features;
  const NamedOutputs& labels;
  ModeKeys mode;
  const Params& params;
  const RunConfig& config;
};

using EvalMetricOps = std::map<std::string, Metric>;

// What a model function returns. kTrain needs loss and train_op, kEval loss, kPredict predictions.
struct EstimatorSpec {
  ModeKeys mode = ModeKeys::kTrain;
  NamedOutputs predictions = {};
  Output loss = {};  // T[] or T[1]
  Operation train_op = {};
  EvalMetricOps eval_metric_ops = {};
  std::map<std::string, NamedOutputs> export_outputs = {};  // by the name of a signature; none: predictions
  std::vector<Hook> training_chief_hooks = {};
  std::vector<Hook> training_hooks = {};
  std::optional<Scaffold> scaffold = {};
  std::vector<Hook> evaluation_hooks = {};
  std::vector<Hook> prediction_hooks = {};
};

// Optimizers are made in here, too: one that outlives the call keeps the graph of each call.
using ModelFunction = std::function<EstimatorSpec(const ModelContext& context)>;

// Throws InvalidArgument if the spec is of another mode, lacks what its mode needs, if the loss is no scalar,
// or if something in it is of another graph.
void require_complete(const EstimatorSpec& spec, ModeKeys mode, const Graph& graph);

}  // namespace runnel
