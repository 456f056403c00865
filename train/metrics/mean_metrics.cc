// All come down to mean(), which is total / count.
#include "train/metrics/mean_metrics.h"

#include "graph/dataflow.h"
#include "graph/error.h"
#include "ops/arithmetic_ops.h"
#include "ops/array_shape_ops.h"
#include "ops/comparison_ops.h"
#include "ops/math_ops.h"
#include "ops/reduction_ops.h"
#include "ops/state_ops.h"
#include "train/metrics/metric_inputs.h"

namespace runnel::metrics {
namespace {

// The values times their weights, and the weights with the values' shape; without weights the values alone.
struct Weighted {
  Output values, weights;
};
Weighted weighted(std::string_view metric, Output values, const MetricOptions& o) {
  Output weights = weights_of(values.graph(), o);
  if (!weights) return {values, {}};
  weights = cast(weights_of_rank(weights, values), DType::kFloat);
  weights = spread_weights(metric, weights, values, o.where);
  return {multiply(values, weights), weights};
}

// Adds to the sums; what is given out divides them.
Metric quotient(const Variable& total, const Variable& count, Output added, Output counted, Output values,
                const MetricOptions& o) {
  const Output new_total = assign_add(total, added);
  Output new_count;
  {
    const ControlDependencies after(values.graph(), {values.node()});
    new_count = assign_add(count, counted);
  }
  const Output value = div_no_nan(total, maximum(count, 0), {.name = "value"});
  return collected({value, div_no_nan(new_total, maximum(new_count, 0), {.name = "update_op"})}, o);
}

MetricOptions named(MetricOptions o, std::string_view metric) {
  o.name = scope_name(o, metric);
  return o;
}

}  // namespace

Metric mean(Output values, MetricOptions o) {
  Graph& graph = values.graph();
  const MadeAt place(graph, o.where);
  const NameScope scope(graph, scope_name(o, "mean"));
  values = cast(values, DType::kFloat);
  const Variable total = metric_variable(graph, {}, DType::kFloat, "total");
  const Variable count = metric_variable(graph, {}, DType::kFloat, "count");
  const Weighted w = weighted("mean", values, o);
  const Output counted = w.weights ? reduce_sum(w.weights) : cast(size(values), DType::kFloat);
  return quotient(total, count, reduce_sum(w.values), counted, w.values, o);
}

Metric mean_tensor(Output values, MetricOptions o) {
  Graph& graph = values.graph();
  const MadeAt place(graph, o.where);
  if (!values.shape().is_known())
    throw InvalidArgument(cat("mean_tensor: the shape of ", Operand(values).text(),
                              " is not known: it is that of the variables"),
                          o.where);
  const NameScope scope(graph, scope_name(o, "mean"));
  values = cast(values, DType::kFloat);
  const Variable total = metric_variable(graph, values.shape(), DType::kFloat, "total_tensor");
  const Variable count = metric_variable(graph, values.shape(), DType::kFloat, "count_tensor");
  const Weighted w = weighted("mean_tensor", values, o);
  const Output counted = w.weights ? w.weights : ones_like(values);
  return quotient(total, count, w.values, counted, w.values, o);
}

Metric accuracy(Output labels, Output predictions, MetricOptions o) {
  const MadeAt place(labels.graph(), o.where);
  const auto [l, p] = matched("accuracy", labels, predictions, o.where);
  const Output correct = equal(cast(p, base_of(l.dtype())), l);
  return mean(cast(correct, DType::kFloat), named(std::move(o), "accuracy"));
}

Metric mean_squared_error(Output labels, Output predictions, MetricOptions o) {
  const MadeAt place(labels.graph(), o.where);
  const auto [l, p] = matched("mean_squared_error", labels, predictions, o.where);
  return mean(squared_difference(l, p), named(std::move(o), "mean_squared_error"));
}

Metric root_mean_squared_error(Output labels, Output predictions, MetricOptions o) {
  const MadeAt place(labels.graph(), o.where);
  MetricOptions inner = named(o, "root_mean_squared_error");
  inner.metrics_collections = inner.updates_collections = {};
  const Metric squared = mean_squared_error(labels, predictions, inner);
  return collected({sqrt(squared.value), sqrt(squared.update_op)}, o);
}

Metric mean_absolute_error(Output labels, Output predictions, MetricOptions o) {
  const MadeAt place(labels.graph(), o.where);
  const auto [l, p] = matched("mean_absolute_error", labels, predictions, o.where);
  return mean(abs(p - l), named(std::move(o), "mean_absolute_error"));
}

Metric mean_relative_error(Output labels, Output predictions, Output normalizer, MetricOptions o) {
  const MadeAt place(labels.graph(), o.where);
  const auto [l, p] = matched("mean_relative_error", labels, predictions, o.where);
  const auto [n, q] = matched("mean_relative_error", normalizer, p, o.where);
  const Output relative = select(equal(n, 0), zeros_like(l), abs(l - q) / n);
  return mean(relative, named(std::move(o), "mean_relative_error"));
}

Metric mean_cosine_distance(Output labels, Output predictions, int dim, MetricOptions o) {
  const MadeAt place(labels.graph(), o.where);
  const auto [l, p] = matched("mean_cosine_distance", labels, predictions, o.where);
  MetricOptions inner = named(o, "mean_cosine_distance");
  inner.metrics_collections = inner.updates_collections = {};
  const Metric products = mean(reduce_sum(p * l, Axes{dim}, {.keep_dims = true}), inner);
  return collected({subtract(1.0f, products.value), subtract(1.0f, products.update_op)}, o);
}

Metric percentage_below(Output values, const Operand& threshold, MetricOptions o) {
  const MadeAt place(values.graph(), o.where);
  return mean(cast(less(values, threshold), DType::kFloat),
              named(std::move(o), "percentage_below_threshold"));
}

}  // namespace runnel::metrics
