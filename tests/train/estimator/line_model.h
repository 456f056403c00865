// A model small enough to follow by hand, for the tests of Estimator: y = w x + b on ten rows of y = 2 x + 1,
// as all rows at once or as batches that end.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "graph/clock.h"
#include "ops/arithmetic_ops.h"
#include "ops/array_gather_ops.h"
#include "ops/array_ops.h"
#include "ops/array_shape_ops.h"
#include "ops/global_step.h"
#include "ops/math_ops.h"
#include "ops/reduction_ops.h"
#include "ops/state_ops.h"
#include "ops/variables.h"
#include "train/estimator/estimator.h"
#include "train/gradient_descent.h"
#include "train/metrics/mean_metrics.h"

namespace runnel::line {

inline constexpr std::int64_t kRows = 10;

inline std::vector<float> xs() {
  std::vector<float> values;
  for (int i = 0; i < kRows; ++i) values.push_back(static_cast<float>(i) / 10);
  return values;
}
inline std::vector<float> ys() {
  std::vector<float> values = xs();
  for (float& value : values) value = 2 * value + 1;
  return values;
}

// The same batch for ever.
inline InputBatch all_rows(Graph& graph) {
  return {.features = {{"x", constant(graph, Tensor::vector(xs()))}},
          .labels = constant(graph, Tensor::vector(ys()))};
}

// Batches of `size` rows in their order, once; the last one has what is left.
inline InputFunction batches_once(std::int64_t size) {
  return [size](Graph& graph) {
    const Variable next = variable(graph, Tensor::scalar(std::int64_t{0}), "next_batch",
                                   {.trainable = false, .collections = {keys::kLocalVariables}});
    const Output first = count_up_to(next, (kRows + size - 1) / size) * size;
    const Output rows = range(first, minimum(first + size, kRows), std::int64_t{1});
    return InputBatch{.features = {{"x", gather(constant(graph, Tensor::vector(xs())), rows)}},
                      .labels = gather(constant(graph, Tensor::vector(ys())), rows)};
  };
}

// Features as a placeholder called `x`.
inline InputBatch serving_input(Graph& graph) {
  return {.features = {{"x", placeholder<float>(graph, {kUnknown}, "x")}}};
}

inline EstimatorSpec model(const ModelContext& c) {
  const Variable w = variable(c.graph, 0.0f, "w"), b = variable(c.graph, 0.0f, "b");
  const Output x = c.features["x"];
  const Output y = w * x + b;
  EstimatorSpec spec{.mode = c.mode, .predictions = {{"x", x}, {"y", y}}};
  if (c.mode == ModeKeys::kPredict) return spec;
  spec.loss = reduce_mean(square(y - c.labels.only()));
  spec.eval_metric_ops = {{"mse", metrics::mean_squared_error(c.labels, y)}};
  if (c.mode == ModeKeys::kTrain)
    spec.train_op = GradientDescent(0.1f).minimize(spec.loss, {.global_step = get_global_step(c.graph)});
  return spec;
}

// Quiet and quick: no signals, saves every `save_steps` steps and at the end.
inline RunConfig config(const std::string& model_dir, std::int64_t save_steps = 1000,
                        Clock* clock = nullptr) {
  return RunConfig({.model_dir = model_dir,
                    .save_checkpoints_steps = save_steps,
                    .session_config = {.intra_op_parallelism_threads = 1, .inter_op_parallelism_threads = 1},
                    .handle_signals = false,
                    .clock = clock});
}

inline Estimator estimator(const std::string& model_dir, std::int64_t save_steps = 1000) {
  return Estimator(model, {.config = config(model_dir, save_steps)});
}

// The steps of the checkpoints in a directory, in order.
inline std::vector<std::int64_t> saved_steps(const std::string& directory) {
  std::vector<std::int64_t> steps;
  for (const std::string& name : real_file_system().list(directory))
    if (name.starts_with("model.ckpt-") && name.ends_with(".index"))
      steps.push_back(std::stoll(name.substr(std::string("model.ckpt-").size())));
  std::sort(steps.begin(), steps.end());
  return steps;
}

}  // namespace runnel::line
