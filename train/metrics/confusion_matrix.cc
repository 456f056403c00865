// A matrix is a sum of weights by cell, UnsortedSegmentSum over label * num_classes + prediction, where
// TensorFlow has ScatterNd: the same numbers from an op that is there.
#include "train/metrics/confusion_matrix.h"

#include <numeric>
#include <vector>

#include "graph/dataflow.h"
#include "graph/error.h"
#include "ops/arithmetic_ops.h"
#include "ops/array_gather_ops.h"
#include "ops/array_join_ops.h"
#include "ops/array_movement_ops.h"
#include "ops/array_ops.h"
#include "ops/array_shape_ops.h"
#include "ops/assert_ops.h"
#include "ops/comparison_ops.h"
#include "ops/integers.h"
#include "ops/math_ops.h"
#include "ops/reduction_ops.h"
#include "ops/state_ops.h"
#include "train/metrics/metric_inputs.h"

namespace runnel::metrics {
namespace {

constexpr std::int64_t kMostClasses = 32768;  // a matrix of 8 GiB in double

void require_classes(std::string_view metric, std::int64_t n, Location where) {
  if (n < 1 || n >= kMostClasses)
    throw InvalidArgument(cat(metric, ": num_classes is ", n, ", not in [1, ", kMostClasses, ")"), where);
}

// Numbers of classes, as int64, once it is checked that all are below `num_classes`.
Output checked_classes(Output x, Output num_classes, const char* what) {
  const Output numbers = cast(x, DType::kInt64);
  const Output inside = logical_and(greater_equal(numbers, 0), less(numbers, num_classes));
  const Operation check = assert_true(reduce_all(inside),
                                      {Tensor::scalar(cat(what, " are not all in [0, num_classes):")),
                                       numbers, Tensor::scalar("num_classes ="), num_classes},
                                      {.name = cat("assert_", what)});
  return with_dependencies({&check, 1}, numbers);
}

// One more than the highest number of the batch; 0 for an empty one.
Output classes_in(Output labels, Output predictions) {
  const Output highest =
      maximum(reduce_max(cast(labels, DType::kInt64)), reduce_max(cast(predictions, DType::kInt64)));
  const Output n = maximum(highest, -1) + 1;
  const Operation check = assert_true(
      less(n, kMostClasses), {Tensor::scalar(cat("a class is not under ", kMostClasses, ":")), highest},
      {.name = "assert_num_classes"});
  return with_dependencies({&check, 1}, n);
}

Output sums_of_segments(Output data, Output ids, Output count) {
  return data.graph().add("UnsortedSegmentSum", {data, ids, count});
}

// The options' weights with the shape of `values`, in dtype `type`; ones if there are none.
Output weights_for(std::string_view metric, Output values, DType type, const MetricOptions& o) {
  Output weights = weights_of(values.graph(), o);
  if (!weights) return ones_like(values, type);
  weights = cast(weights_of_rank(weights, values), type);
  return spread_weights(metric, weights, values, o.where);
}

Output flat(Output x) { return x.shape().has_rank() && x.shape().rank() == 1 ? x : reshape(x, {-1}); }

// Of flat tensors of one length. The cell (i, j) is number i * n + j.
Output matrix(Output labels, Output predictions, Output weights, Output n) {
  const Output cells =
      checked_classes(labels, n, "labels") * n + checked_classes(predictions, n, "predictions");
  const Output sums = sums_of_segments(weights, cells, n * n);
  return sums;
}

// A variable that a batch's matrix is added to.
Metric streamed(std::string_view metric, Output labels, Output predictions, std::int64_t num_classes,
                const MetricOptions& o) {
  Graph& graph = labels.graph();
  require_classes(metric, num_classes, o.where);
  const auto [l, p] = matched(metric, labels, predictions, o.where);
  const Variable total =
      metric_variable(graph, {num_classes, num_classes}, DType::kDouble, "total_confusion_matrix");
  const Output weights = weights_for(metric, p, DType::kDouble, o);
  const Output batch = confusion_matrix(
      flat(l), flat(p),
      {.num_classes = num_classes, .dtype = DType::kDouble, .weights = flat(weights), .where = o.where});
  return {total.value(), assign_add(total, batch)};
}

// The diagonal of a matrix of n rows.
Output diagonal(Output square, std::int64_t n) {
  std::vector<std::int64_t> places(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = static_cast<std::int64_t>(i) * (n + 1);
  return gather(reshape(square, {-1}), Tensor::vector(places));
}

Output as_float(Output x) { return cast(x, DType::kFloat); }

}  // namespace

Output confusion_matrix(Output labels, Output predictions, ConfusionMatrixOptions o) {
  Graph& graph = labels.graph();
  const MadeAt place(graph, o.where);
  if (o.num_classes) require_classes("confusion_matrix", *o.num_classes, o.where);
  const NameScope scope(graph, o.name);
  const auto [l, p] = matched("confusion_matrix", labels, predictions, o.where);
  if (p.shape().has_rank() && p.shape().rank() != 1)
    throw InvalidArgument(cat("confusion_matrix: predictions must be a vector, but are ", Operand(p).text()),
                          o.where);
  const Output weights =
      weights_for("confusion_matrix", p, o.dtype, {.weights = o.weights, .where = o.where});
  const Output n = o.num_classes ? integer_constant(graph, DType::kInt64, *o.num_classes, "num_classes")
                                 : classes_in(l, p);
  const Output cells = matrix(l, p, weights, n);
  return o.num_classes ? reshape(cells, {*o.num_classes, *o.num_classes}) : reshape(cells, stack({n, n}));
}

Metric streaming_confusion_matrix(Output labels, Output predictions, std::int64_t num_classes,
                                  MetricOptions o) {
  Graph& graph = labels.graph();
  const MadeAt place(graph, o.where);
  const NameScope scope(graph, scope_name(o, "confusion_matrix"));
  const Metric counts = streamed("streaming_confusion_matrix", labels, predictions, num_classes, o);
  return collected({identity(counts.value, {.name = "value"}), counts.update_op}, o);
}

Metric mean_iou(Output labels, Output predictions, std::int64_t num_classes, MetricOptions o) {
  Graph& graph = labels.graph();
  const MadeAt place(graph, o.where);
  const NameScope scope(graph, scope_name(o, "mean_iou"));
  const Metric counts = streamed("mean_iou", labels, predictions, num_classes, o);
  const Output both = as_float(diagonal(counts.value, num_classes));
  const Output either =
      as_float(reduce_sum(counts.value, 0)) + as_float(reduce_sum(counts.value, 1)) - both;  // [classes]
  const Output present = reduce_sum(as_float(not_equal(either, 0)));
  return collected(
      {div_no_nan(reduce_sum(div_no_nan(both, either)), present, {.name = "value"}), counts.update_op}, o);
}

Metric mean_per_class_accuracy(Output labels, Output predictions, std::int64_t num_classes, MetricOptions o) {
  Graph& graph = labels.graph();
  const MadeAt place(graph, o.where);
  require_classes("mean_per_class_accuracy", num_classes, o.where);
  const NameScope scope(graph, scope_name(o, "mean_accuracy"));
  const auto [l, p] = matched("mean_per_class_accuracy", labels, predictions, o.where);
  const Variable total = metric_variable(graph, {num_classes}, DType::kFloat, "total");
  const Variable count = metric_variable(graph, {num_classes}, DType::kFloat, "count");
  const Output weights = flat(weights_for("mean_per_class_accuracy", p, DType::kFloat, o));
  const Output n = integer_constant(graph, DType::kInt64, num_classes, "num_classes");
  const Output classes = checked_classes(flat(l), n, "labels");
  const Output correct = as_float(equal(cast(flat(p), DType::kInt64), classes)) * weights;
  const Output new_total = assign_add(total, sums_of_segments(weights, classes, n));
  const Output new_count = assign_add(count, sums_of_segments(correct, classes, n));
  const Output value = reduce_mean(div_no_nan(count, maximum(total, 0)), {.name = "mean_accuracy"});
  return collected({value, div_no_nan(new_count, maximum(new_total, 0), {.name = "update_op"})}, o);
}

}  // namespace runnel::metrics
