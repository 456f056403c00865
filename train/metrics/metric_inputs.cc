// What cannot be told from shapes becomes conditionals and checks of the graph, smaller ones than
// TensorFlow's.
#include "train/metrics/metric_inputs.h"

#include <vector>

#include "graph/error.h"
#include "ops/arithmetic_ops.h"
#include "ops/array_movement_ops.h"
#include "ops/array_ops.h"
#include "ops/array_shape_ops.h"
#include "ops/array_slice_ops.h"
#include "ops/assert_ops.h"
#include "ops/comparison_ops.h"
#include "ops/control_flow_ops.h"
#include "ops/math_ops.h"
#include "ops/reduction_ops.h"
#include "ops/variables.h"

namespace runnel::metrics {
namespace {

// `x`, changed by `change` in steps in which `pred` holds.
template <class F>
Output changed_if(Output pred, Output x, F change) {
  const Switched sides = switch_tensor(x, pred);
  return merge({sides.if_false, change(sides.if_true)}).output;
}

Output without_last(Output x) { return squeeze(x, {.axes = {-1}}); }
Output with_last(Output x) { return expand_dims(x, -1); }

bool may_end_in_one(const Shape& shape) {
  if (!shape.has_rank()) return true;
  if (shape.rank() == 0) return false;
  const std::int64_t last = shape[shape.rank() - 1];
  return last == 1 || last == kUnknown;
}

bool fits(std::int64_t weight, std::int64_t value) {
  return weight == 1 || weight == value || weight == kUnknown || value == kUnknown;
}

// Throws if weights of these shapes can never be spread; true if it is sure that they can.
bool surely_spread(std::string_view metric, Output weights, Output values, Location where) {
  const Shape &w = weights.shape(), &v = values.shape();
  if (w.has_rank() && w.rank() == 0) return true;
  if (!w.has_rank() || !v.has_rank()) return false;
  bool possible = w.rank() == v.rank();
  for (int i = 0; possible && i < w.rank(); ++i) possible = fits(w[i], v[i]);
  if (!possible)
    throw InvalidArgument(
        cat(metric, ": weights can not be broadcast to values: weights are ", Operand(weights).text(),
            ", values ", Operand(values).text(), "; each dimension must be 1 or that of the values"),
        where);
  return w.is_known() && v.is_known();
}

// The same question for a step.
Output can_be_spread(Output weights, Output values) {
  const Output given = shape(weights), wanted = shape(values);
  const auto dims_fit = [](Output w, Output v) { return reduce_all(logical_or(equal(w, 1), equal(w, v))); };
  if (weights.shape().has_rank() && values.shape().has_rank()) return dims_fit(given, wanted);
  const Output w_rank = rank(weights), same_rank = equal(w_rank, rank(values));
  const Output w = switch_tensor(given, same_rank).if_true, v = switch_tensor(wanted, same_rank).if_true;
  return merge({switch_tensor(equal(w_rank, 0), same_rank).if_false, dims_fit(w, v)}).output;
}

}  // namespace

std::string scope_name(const MetricOptions& o, std::string_view metric) {
  return o.name.empty() ? std::string(metric) : o.name;
}

Variable metric_variable(Graph& graph, const Shape& shape, DType type, std::string_view name) {
  return variable(graph, InitialValue([=](Graph& g) { return zeros(g, type, shape); }), name,
                  {.trainable = false, .collections = {keys::kLocalVariables, keys::kMetricVariables}});
}

Output weights_of(Graph& graph, const MetricOptions& o) {
  return o.weights ? o.weights->in(graph, DType::kFloat, "weights") : Output();
}

LabelsAndPredictions matched(std::string_view metric, Output labels, Output predictions, Location where) {
  const NameScope scope(labels.graph(), "remove_squeezable_dimensions");
  const Shape l = labels.shape(), p = predictions.shape();
  if (l.has_rank() && p.has_rank()) {
    if (p.rank() == l.rank() + 1 && may_end_in_one(p)) predictions = without_last(predictions);
    if (l.rank() == p.rank() + 1 && may_end_in_one(l)) labels = without_last(labels);
  } else {
    const Output difference = rank(predictions) - rank(labels);
    if (may_end_in_one(p)) predictions = changed_if(equal(difference, 1), predictions, without_last);
    if (may_end_in_one(l)) labels = changed_if(equal(difference, -1), labels, without_last);
  }
  if (!labels.shape().compatible_with(predictions.shape()))
    throw InvalidArgument(cat(metric, ": shapes differ: labels are ", Operand(labels).text(),
                              ", predictions ", Operand(predictions).text()),
                          where);
  return {labels, predictions};
}

Output weights_of_rank(Output weights, Output values) {
  const Shape w = weights.shape(), v = values.shape();
  if (w.has_rank() && w.rank() == 0) return weights;
  if (w.has_rank() && v.has_rank()) {
    if (w.rank() == v.rank() + 1 && may_end_in_one(w)) return without_last(weights);
    return v.rank() == w.rank() + 1 ? with_last(weights) : weights;
  }
  const Output w_rank = rank(weights), difference = w_rank - rank(values);
  if (may_end_in_one(w)) {
    const Output ends_in_one = reduce_all(equal(subvector(shape(weights), -1, {}), 1));
    weights = changed_if(logical_and(equal(difference, 1), ends_in_one), weights, without_last);
  }
  return changed_if(logical_and(equal(difference, -1), not_equal(w_rank, 0)), weights, with_last);
}

Output spread_weights(std::string_view metric, Output weights, Output values, Location where) {
  if (weights.shape().is_known() && weights.shape() == values.shape()) return weights;
  const bool sure = surely_spread(metric, weights, values, where);
  Graph& graph = weights.graph();
  const NameScope scope(graph, "broadcast_weights");
  std::vector<Operation> checks;
  if (!sure)
    checks.push_back(assert_true(can_be_spread(weights, values),
                                 {Tensor::scalar("weights can not be broadcast to values. weights.shape="),
                                  shape(weights), Tensor::scalar("values.shape="), shape(values)},
                                 {.summarize = 16, .name = "assert_broadcastable"}));
  const ControlDependencies after(graph, checks);
  return multiply(weights, ones_like(values, base_of(weights.dtype())), {.name = scope.name()});
}

Metric collected(Metric metric, const MetricOptions& o) {
  Graph& graph = metric.value.graph();
  for (const std::string& key : o.metrics_collections) graph.add_to_collection(key, metric.value);
  for (const std::string& key : o.updates_collections) graph.add_to_collection(key, metric.update_op);
  return metric;
}

}  // namespace runnel::metrics
