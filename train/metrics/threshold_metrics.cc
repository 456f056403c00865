// Predictions in a row against thresholds in a column: what TensorFlow tiles is broadcast here.
#include "train/metrics/threshold_metrics.h"

#include "graph/dataflow.h"
#include "graph/error.h"
#include "ops/arithmetic_ops.h"
#include "ops/array_movement_ops.h"
#include "ops/array_ops.h"
#include "ops/assert_ops.h"
#include "ops/comparison_ops.h"
#include "ops/math_ops.h"
#include "ops/reduction_ops.h"
#include "ops/state_ops.h"
#include "train/metrics/metric_inputs.h"

namespace runnel::metrics {
namespace {

const char* name_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::kTruePositives: return "true_positives";
    case Outcome::kFalseNegatives: return "false_negatives";
    case Outcome::kTrueNegatives: return "true_negatives";
    case Outcome::kFalsePositives: return "false_positives";
  }
  return "";
}

// The predictions, once it is checked that they are what thresholds can tell apart.
Output in_unit_interval(Output predictions) {
  const Output at_least_0 = reduce_all(greater_equal(predictions, 0));
  const Output at_most_1 = reduce_all(less_equal(predictions, 1));
  const Operation check = assert_true(logical_and(at_least_0, at_most_1),
                                      {Tensor::scalar("predictions must be in [0, 1]"),
                                       Tensor::scalar(predictions.name() + " ="), predictions},
                                      {.name = "assert_in_unit_interval"});
  return with_dependencies({&check, 1}, predictions);
}

// All elements as one row. [1, n]
Output row(Output x) { return reshape(x, {1, -1}); }

Metric one_outcome(Outcome outcome, Output labels, Output predictions, const std::vector<float>& thresholds,
                   const MetricOptions& o) {
  Graph& graph = labels.graph();
  const MadeAt place(graph, o.where);
  const NameScope scope(graph, scope_name(o, name_of(outcome)));
  const Metric counts =
      count_at_thresholds(name_of(outcome), labels, predictions, thresholds, {outcome}, o)[0];
  return collected({identity(counts.value), counts.update_op}, o);
}

// True positives over themselves and `others`, under the names WORD_value and WORD_update_op.
Metric true_share(std::string metric, std::string word, Outcome others, Output labels, Output predictions,
                  const std::vector<float>& thresholds, const MetricOptions& o) {
  Graph& graph = labels.graph();
  const MadeAt place(graph, o.where);
  const NameScope scope(graph, scope_name(o, metric));
  const auto counts =
      count_at_thresholds(metric, labels, predictions, thresholds, {Outcome::kTruePositives, others}, o);
  const auto share = [&](Output right, Output wrong, const char* name) {
    return divide(right, 1e-7f + right + wrong, {.name = word + name});
  };
  return collected({share(counts[0].value, counts[1].value, "_value"),
                    share(counts[0].update_op, counts[1].update_op, "_update_op")},
                   o);
}

}  // namespace

std::vector<Metric> count_at_thresholds(std::string_view metric, Output labels, Output predictions,
                                        const std::vector<float>& thresholds,
                                        const std::vector<Outcome>& outcomes, const MetricOptions& o) {
  Graph& graph = labels.graph();
  if (thresholds.empty()) throw InvalidArgument(cat(metric, ": there are no thresholds"), o.where);
  if (!is_floating(base_of(predictions.dtype())))
    throw InvalidArgument(
        cat(metric, ": predictions must be float or double, but are ", Operand(predictions).text()), o.where);
  const Output checked = cast(in_unit_interval(predictions), DType::kFloat);
  const auto [l, p] = matched(metric, cast(labels, DType::kBool), checked, o.where);
  Output weights = weights_of(graph, o);
  if (weights) {
    weights = cast(weights_of_rank(weights, p), DType::kFloat);
    weights = row(spread_weights(metric, weights, p, o.where));
  }
  const auto n = static_cast<std::int64_t>(thresholds.size());
  const Output bounds = constant(graph, Tensor::from(Shape{n, 1}, thresholds), {.name = "thresholds"});
  const Output found = greater(row(p), bounds), missed = logical_not(found);  // [thresholds, n]
  const Output positive = row(l), negative = logical_not(positive);           // [1, n]
  std::vector<Metric> out;
  for (const Outcome outcome : outcomes) {
    const bool of_positives = outcome == Outcome::kTruePositives || outcome == Outcome::kFalseNegatives;
    const bool of_found = outcome == Outcome::kTruePositives || outcome == Outcome::kFalsePositives;
    const Variable count = metric_variable(graph, {n}, DType::kFloat, name_of(outcome));
    const Output hit =
        cast(logical_and(of_positives ? positive : negative, of_found ? found : missed), DType::kFloat);
    const Output batch = reduce_sum(weights ? multiply(hit, weights) : hit, 1);
    out.push_back({count.value(), assign_add(count, batch)});
  }
  return out;
}

Metric true_positives_at_thresholds(Output labels, Output predictions, const std::vector<float>& thresholds,
                                    MetricOptions o) {
  return one_outcome(Outcome::kTruePositives, labels, predictions, thresholds, o);
}
Metric false_positives_at_thresholds(Output labels, Output predictions, const std::vector<float>& thresholds,
                                     MetricOptions o) {
  return one_outcome(Outcome::kFalsePositives, labels, predictions, thresholds, o);
}
Metric true_negatives_at_thresholds(Output labels, Output predictions, const std::vector<float>& thresholds,
                                    MetricOptions o) {
  return one_outcome(Outcome::kTrueNegatives, labels, predictions, thresholds, o);
}
Metric false_negatives_at_thresholds(Output labels, Output predictions, const std::vector<float>& thresholds,
                                     MetricOptions o) {
  return one_outcome(Outcome::kFalseNegatives, labels, predictions, thresholds, o);
}

Metric precision_at_thresholds(Output labels, Output predictions, const std::vector<float>& thresholds,
                               MetricOptions o) {
  return true_share("precision_at_thresholds", "precision", Outcome::kFalsePositives, labels, predictions,
                    thresholds, o);
}
Metric recall_at_thresholds(Output labels, Output predictions, const std::vector<float>& thresholds,
                            MetricOptions o) {
  return true_share("recall_at_thresholds", "recall", Outcome::kFalseNegatives, labels, predictions,
                    thresholds, o);
}

}  // namespace runnel::metrics
