// Counts at several thresholds at once: a prediction above a threshold is true for it. Source: tf.metrics
// (compat.v1), behaviours 20.2. The area under the curve of such counts is in auc.h.
#pragma once

#include <string_view>
#include <vector>

#include "train/metrics/metric.h"

namespace runnel::metrics {

// The weight of elements of each kind, for each threshold.
//
//   labels       T[...], true unless 0
//   predictions  float or double[...], all in [0, 1]
//   thresholds   at least one
//   returns      float[thresholds] twice
//   errors       InvalidArgument without thresholds, if the shapes differ (a last dimension of 1 apart) or
//                weights can not be spread: here if known, else from Session::run; from there if a prediction
//                is outside of [0, 1]
//   grad         none
//   source       tf.metrics.true_positives_at_thresholds, ...; scope and variable `true_positives`, ...
Metric true_positives_at_thresholds(Output labels, Output predictions, const std::vector<float>& thresholds,
                                    MetricOptions options = {});
Metric false_positives_at_thresholds(Output labels, Output predictions, const std::vector<float>& thresholds,
                                     MetricOptions options = {});
Metric true_negatives_at_thresholds(Output labels, Output predictions, const std::vector<float>& thresholds,
                                    MetricOptions options = {});
Metric false_negatives_at_thresholds(Output labels, Output predictions, const std::vector<float>& thresholds,
                                     MetricOptions options = {});

// TP / (1e-7 + TP + FP) and TP / (1e-7 + TP + FN) for each threshold.
//
//   source  tf.metrics.precision_at_thresholds, recall_at_thresholds; nodes SCOPE/precision_value, ...
Metric precision_at_thresholds(Output labels, Output predictions, const std::vector<float>& thresholds,
                               MetricOptions options = {});
Metric recall_at_thresholds(Output labels, Output predictions, const std::vector<float>& thresholds,
                            MetricOptions options = {});

// The counts themselves, for metrics made of them.
enum class Outcome { kTruePositives, kFalseNegatives, kTrueNegatives, kFalsePositives };

// Counts in the current scope, as the variables true_positives, ...; the same checks as above. Returns one
// Metric for each of `outcomes`, whose value is the variable's.
std::vector<Metric> count_at_thresholds(std::string_view metric, Output labels, Output predictions,
                                        const std::vector<float>& thresholds,
                                        const std::vector<Outcome>& outcomes, const MetricOptions& options);

}  // namespace runnel::metrics
