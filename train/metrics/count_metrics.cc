// Each count is a variable of its own, so that a checkpoint of precision has the names that TensorFlow gives
// it.
#include "train/metrics/count_metrics.h"

#include "graph/dataflow.h"
#include "ops/arithmetic_ops.h"
#include "ops/array_ops.h"
#include "ops/comparison_ops.h"
#include "ops/math_ops.h"
#include "ops/reduction_ops.h"
#include "ops/state_ops.h"
#include "train/metrics/metric_inputs.h"

namespace runnel::metrics {
namespace {

// What both are.
struct Case {
  bool label, prediction;
};

Output as_said(Output x, bool said) { return said ? x : logical_not(x); }

struct Bools {
  Output labels, predictions;
};
Bools bools(std::string_view metric, Output labels, Output predictions, Location where) {
  const Output p = cast(predictions, DType::kBool), l = cast(labels, DType::kBool);
  const auto [matched_labels, matched_predictions] = matched(metric, l, p, where);
  return {matched_labels, matched_predictions};
}

Metric counted(std::string_view metric, Case wanted, Output labels, Output predictions,
               const MetricOptions& o) {
  Graph& graph = labels.graph();
  const MadeAt place(graph, o.where);
  const NameScope scope(graph, scope_name(o, metric));
  const Bools given = bools(metric, labels, predictions, o.where);
  const Output hit =
      logical_and(as_said(given.labels, wanted.label), as_said(given.predictions, wanted.prediction));
  const Variable count = metric_variable(graph, {}, DType::kFloat, "count");
  Output values = cast(hit, DType::kFloat);
  if (Output weights = weights_of(graph, o)) {
    weights = cast(weights_of_rank(weights, values), DType::kFloat);
    values = multiply(values, spread_weights(metric, weights, values, o.where));
  }
  return collected({identity(count), assign_add(count, reduce_sum(values))}, o);
}

Output share(Output part, Output whole, std::string name) {
  return select(greater(whole, 0), divide(part, whole), 0, {.name = std::move(name)});
}

// The options for a count inside a metric.
MetricOptions inside(const MetricOptions& o) { return {.weights = o.weights, .where = o.where}; }

using Count = Metric (*)(Output labels, Output predictions, MetricOptions);

// True positives over themselves and `others`.
Metric true_share(std::string_view metric, Count others, Output labels, Output predictions,
                  const MetricOptions& o) {
  Graph& graph = labels.graph();
  const MadeAt place(graph, o.where);
  const NameScope scope(graph, scope_name(o, metric));
  const Bools given = bools(metric, labels, predictions, o.where);
  const Metric right = true_positives(given.labels, given.predictions, inside(o));
  const Metric wrong = others(given.labels, given.predictions, inside(o));
  return collected({share(right.value, right.value + wrong.value, "value"),
                    share(right.update_op, right.update_op + wrong.update_op, "update_op")},
                   o);
}

}  // namespace

Metric true_positives(Output labels, Output predictions, MetricOptions o) {
  return counted("true_positives", {true, true}, labels, predictions, o);
}
Metric false_positives(Output labels, Output predictions, MetricOptions o) {
  return counted("false_positives", {false, true}, labels, predictions, o);
}
Metric true_negatives(Output labels, Output predictions, MetricOptions o) {
  return counted("true_negatives", {false, false}, labels, predictions, o);
}
Metric false_negatives(Output labels, Output predictions, MetricOptions o) {
  return counted("false_negatives", {true, false}, labels, predictions, o);
}

Metric precision(Output labels, Output predictions, MetricOptions o) {
  return true_share("precision", false_positives, labels, predictions, o);
}
Metric recall(Output labels, Output predictions, MetricOptions o) {
  return true_share("recall", false_negatives, labels, predictions, o);
}

Metric f1(Output labels, Output predictions, MetricOptions o) {
  Graph& graph = labels.graph();
  const MadeAt place(graph, o.where);
  const NameScope scope(graph, scope_name(o, "f1"));
  const Bools given = bools("f1", labels, predictions, o.where);
  const Metric right = true_positives(given.labels, given.predictions, inside(o));
  const Metric wrong = false_positives(given.labels, given.predictions, inside(o));
  const Metric missed = false_negatives(given.labels, given.predictions, inside(o));
  const auto f1_of = [](Output tp, Output fp, Output fn, const char* name) {
    const Output twice = 2.0f * tp;
    return share(twice, twice + fp + fn, name);
  };
  return collected({f1_of(right.value, wrong.value, missed.value, "value"),
                    f1_of(right.update_op, wrong.update_op, missed.update_op, "update_op")},
                   o);
}

}  // namespace runnel::metrics
