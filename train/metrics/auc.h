// The area under the curve of a classifier that gives probabilities, from counts at thresholds. Source:
// tf.metrics.auc (compat.v1), behaviours 20.2; the interpolation of precision and recall is that of Davis and
// Goadrich, "The relationship between Precision-Recall and ROC curves" (2006), section 4.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "train/metrics/metric.h"

namespace runnel::metrics {

// True positive rate over false positive rate, or precision over recall.
enum class Curve { kRoc, kPr };

// The height between two thresholds: the mean, the smaller, the larger; or, for precision and recall, the
// curve on which both counts change evenly (as kTrapezoidal for kRoc).
enum class SummationMethod { kTrapezoidal, kMinoring, kMajoring, kCarefulInterpolation };

struct AucOptions {
  std::optional<Operand> weights = {};
  int num_thresholds = 200;  // from 0 to 1 evenly, both a little beyond
  std::vector<std::string> metrics_collections = {};
  std::vector<std::string> updates_collections = {};
  Curve curve = Curve::kRoc;
  std::string name = "auc";
  SummationMethod summation_method = SummationMethod::kTrapezoidal;
  std::optional<std::vector<float>> thresholds = {};  // instead: these, between the two ends
  Location where = Location::here();
};

// The area so far, between 0 and 1. A finer answer needs more thresholds, or thresholds where the predictions
// are; a perfect ROC curve gives just under 1.
//
//   labels       T[...], true unless 0
//   predictions  float or double[...], all in [0, 1]
//   returns      float[] twice, nodes `auc/value` and `auc/update_op`
//   errors       InvalidArgument if num_thresholds < 2 or > 1,000,000, and as of counts at thresholds
//   grad         none
//   source       tf.metrics.auc; variables auc/true_positives, auc/false_negatives, auc/true_negatives,
//                auc/false_positives, float[thresholds]
Metric auc(Output labels, Output predictions, AucOptions options = {});

}  // namespace runnel::metrics
