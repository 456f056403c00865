// The area is made of the counts' variables for `value` and of their updates for `update_op`, by the same
// nodes.
#include "train/metrics/auc.h"

#include <algorithm>

#include "graph/dataflow.h"
#include "graph/error.h"
#include "graph/log.h"
#include "ops/arithmetic_ops.h"
#include "ops/array_shape_ops.h"
#include "ops/array_slice_ops.h"
#include "ops/comparison_ops.h"
#include "ops/math_ops.h"
#include "ops/reduction_ops.h"
#include "train/metrics/metric_inputs.h"
#include "train/metrics/threshold_metrics.h"

namespace runnel::metrics {
namespace {

constexpr double kBeyond = 1e-7;            // of the first threshold below 0 and of the last above 1
constexpr int kMostThresholds = 1'000'000;  // each is compared with every prediction
constexpr float kEpsilon = 1e-6f;           // keeps rates without elements finite

std::vector<float> bounds(const AucOptions& o) {
  std::vector<float> inner;
  if (o.thresholds) {
    inner = *o.thresholds;
    std::sort(inner.begin(), inner.end());
  } else {
    if (o.num_thresholds < 2)
      throw InvalidArgument(cat("auc: num_thresholds is ", o.num_thresholds, ", but a curve has two ends"),
                            o.where);
    if (o.num_thresholds > kMostThresholds)
      throw InvalidArgument(
          cat("auc: num_thresholds is ", o.num_thresholds, "; give ", kMostThresholds, " or fewer"), o.where);
    for (int i = 1; i < o.num_thresholds - 1; ++i)
      inner.push_back(static_cast<float>(i * 1.0 / (o.num_thresholds - 1)));
  }
  inner.insert(inner.begin(), static_cast<float>(0 - kBeyond));
  inner.push_back(static_cast<float>(1 + kBeyond));
  return inner;
}

// Thresholds rise, so what they count falls: entry i is the upper end of step i, entry i + 1 the lower.
Output upper(Output x, int n) { return subvector(x, {}, n - 1); }
Output lower(Output x) { return subvector(x, 1, {}); }

struct Counts {
  Output tp, fn, tn, fp;
};

// Between two thresholds let TP and the predicted P = TP + FP change evenly: TP = a + s P with the slope
// s = dTP / dP. The area is the integral of TP / P over the recall, dTP / (TP + FN) = s dP / (TP + FN), so
//   s (dTP + a ln(P_upper / P_lower)) / (TP + FN),
// and s dTP / (TP + FN) if P_lower is 0.
Output careful_area(const Counts& c, int n) {
  const Output d_tp = upper(c.tp, n) - lower(c.tp), p = c.tp + c.fp;
  const Output d_p = maximum(upper(p, n) - lower(p), 0);
  const Output slope = div_no_nan(d_tp, d_p, {.name = "prec_slope"});
  const Output a = lower(c.tp) - slope * lower(p);
  const Output both = logical_and(greater(upper(p, n), 0), greater(lower(p), 0));
  const Output ratio =
      select(both, div_no_nan(upper(p, n), maximum(lower(p), 0), {.name = "recall_relative_ratio"}),
             ones_like(lower(p)));
  const Output steps = div_no_nan(slope * (d_tp + a * log(ratio)), maximum(lower(c.tp) + lower(c.fn), 0),
                                  {.name = "pr_auc_increment"});
  return reduce_sum(steps, {.name = "interpolate_pr_auc"});
}

Output height(SummationMethod method, Output y, int n) {
  if (method == SummationMethod::kMinoring) return minimum(upper(y, n), lower(y));
  if (method == SummationMethod::kMajoring) return maximum(upper(y, n), lower(y));
  return (upper(y, n) + lower(y)) / 2.0f;
}

Output area(const Counts& c, const AucOptions& o, int n, const char* name) {
  if (o.curve == Curve::kPr && o.summation_method == SummationMethod::kCarefulInterpolation)
    return careful_area(c, n);
  const Output recall = (c.tp + kEpsilon) / (c.tp + c.fn + kEpsilon);
  const bool roc = o.curve == Curve::kRoc;
  const Output x = roc ? c.fp / (c.fp + c.tn + kEpsilon) : recall;
  const Output y = roc ? recall : (c.tp + kEpsilon) / (c.tp + c.fp + kEpsilon);
  return reduce_sum((upper(x, n) - lower(x)) * height(o.summation_method, y, n), {.name = name});
}

}  // namespace

Metric auc(Output labels, Output predictions, AucOptions o) {
  Graph& graph = labels.graph();
  const MadeAt place(graph, o.where);
  const MetricOptions common{.weights = o.weights,
                             .metrics_collections = o.metrics_collections,
                             .updates_collections = o.updates_collections,
                             .name = o.name,
                             .where = o.where};
  const std::vector<float> thresholds = bounds(o);
  if (o.curve == Curve::kPr && o.summation_method == SummationMethod::kTrapezoidal)
    log_warning("auc: trapezoids are too large under a curve of precision; use kCarefulInterpolation");
  const NameScope scope(graph, scope_name(common, "auc"));
  const std::vector<Metric> counts = count_at_thresholds(
      "auc", labels, predictions, thresholds,
      {Outcome::kTruePositives, Outcome::kFalseNegatives, Outcome::kTrueNegatives, Outcome::kFalsePositives},
      common);
  const int n = static_cast<int>(thresholds.size());
  const Counts now{counts[0].value, counts[1].value, counts[2].value, counts[3].value};
  const Counts next{counts[0].update_op, counts[1].update_op, counts[2].update_op, counts[3].update_op};
  const Output value = area(now, o, n, "value");
  return collected({value, area(next, o, n, "update_op")}, common);
}

}  // namespace runnel::metrics
