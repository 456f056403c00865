// Precision-recall curves: how a classifier with two classes does when "true" means a prediction at or above
// a threshold, for thresholds spread evenly over [0, 1]. Source: TensorBoard's pr_curve plugin; formats 8.2.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace runnel {

// One element a threshold i / (n - 1), rising. Counts are sums of weights. The counts of several batches may
// be added up, precision and recall not: finish() makes them anew.
struct PrCurve {
  std::vector<double> true_positives, false_positives, true_negatives, false_negatives, precision, recall;

  // Precision and recall from the counts. Where nothing is counted as positive both are 0.
  void finish();
};

struct PrCurveOptions {
  int num_thresholds = 201;         // 2 to 100,000
  std::vector<float> weights = {};  // one an example, or one for all; none: 1
  std::string display_name = "";    // empty: the tag
  std::string description = "";     // Markdown
};

struct PrCurveRawOptions {
  std::string display_name = "";  // empty: the tag
  std::string description = "";   // Markdown
};

// Predictions are held to [0, 1]. Sums are made in double; TensorBoard's op makes them in float, which is the
// same below 2^24. Throws InvalidArgument when the sizes differ or are 0, for a NaN, for a weight that is not
// finite, and for other numbers of thresholds.
PrCurve pr_curve_of(std::span<const bool> labels, std::span<const float> predictions,
                    const PrCurveOptions& options = {});

// value{tag, float[6, n], metadata} of the plugin "pr_curves". Throws InvalidArgument if the six rows are not
// equally long, have less than 2 or more than 100,000 elements, or hold what is not finite.
std::string pr_curve_value(const std::string& tag, const PrCurve& curve,
                           const PrCurveRawOptions& options = {});

}  // namespace runnel
