// Each example falls into the bucket of the largest threshold that it reaches; the sum of the buckets from a
// threshold on is what is counted as positive there. So one pass over the examples does for all thresholds.
#include "summary/values/pr_curve.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "graph/error.h"
#include "runnel/plugins.pb.h"
#include "runnel/summary.pb.h"
#include "summary/values/plugin_value.h"

namespace runnel {
namespace {

constexpr int kMostThresholds = 100'000;  // a picture has some thousand columns; an event of 2.4 MB
constexpr double kLeastCount = 1e-7;      // TensorBoard's, against division by 0

void check_sizes(std::size_t labels, std::size_t predictions, const PrCurveOptions& options) {
  if (labels != predictions) throw InvalidArgument(cat(labels, " labels for ", predictions, " predictions"));
  if (labels == 0) throw InvalidArgument("there are no labels, so there is no curve");
  const std::size_t weights = options.weights.size();
  if (weights > 1 && weights != labels)
    throw InvalidArgument(cat(weights, " weights for ", labels, " labels: give one each, or one for all"));
  if (options.num_thresholds < 2 || options.num_thresholds > kMostThresholds)
    throw InvalidArgument(cat("num_thresholds is ", options.num_thresholds, ": give 2 to ", kMostThresholds));
}

// The sums from each element on.
void sum_from_the_end(std::vector<double>& counts) {
  for (std::size_t i = counts.size() - 1; i > 0; --i) counts[i - 1] += counts[i];
}

// What is not counted at each threshold of what is counted at the first.
std::vector<double> rest_of(const std::vector<double>& counts) {
  std::vector<double> rest;
  for (const double count : counts) rest.push_back(counts[0] - count);
  return rest;
}

void check_row(const std::vector<double>& row, std::size_t size, const char* what) {
  if (row.size() != size)
    throw InvalidArgument(cat(what, " has ", row.size(), " elements, true_positives ", size));
  for (std::size_t i = 0; i < size; ++i)
    if (!std::isfinite(row[i])) throw InvalidArgument(cat(what, "[", i, "] is ", row[i]));
}

// float[6, n]
Tensor rows_of(const PrCurve& curve) {
  const std::size_t n = curve.true_positives.size();
  if (n < 2 || n > kMostThresholds)
    throw InvalidArgument(cat("a curve of ", n, " thresholds: give 2 to ", kMostThresholds));
  Tensor out(DType::kFloat, Shape{6, static_cast<std::int64_t>(n)});
  float* to = out.mutable_values<float>().data();
  const auto write = [&](const std::vector<double>& row, const char* what) {
    check_row(row, n, what);
    to = std::transform(row.begin(), row.end(), to, [](double x) { return static_cast<float>(x); });
  };
  write(curve.true_positives, "true_positives");
  write(curve.false_positives, "false_positives");
  write(curve.true_negatives, "true_negatives");
  write(curve.false_negatives, "false_negatives");
  write(curve.precision, "precision");
  write(curve.recall, "recall");
  return out;
}

}  // namespace

void PrCurve::finish() {
  const std::size_t n = true_positives.size();
  check_row(false_positives, n, "false_positives");
  check_row(false_negatives, n, "false_negatives");
  precision.assign(n, 0);
  recall.assign(n, 0);
  for (std::size_t i = 0; i < n; ++i) {
    precision[i] = true_positives[i] / std::max(kLeastCount, true_positives[i] + false_positives[i]);
    recall[i] = true_positives[i] / std::max(kLeastCount, true_positives[i] + false_negatives[i]);
  }
}

PrCurve pr_curve_of(std::span<const bool> labels, std::span<const float> predictions,
                    const PrCurveOptions& options) {
  check_sizes(labels.size(), predictions.size(), options);
  const auto last = static_cast<float>(options.num_thresholds - 1);
  PrCurve curve;
  curve.true_positives.assign(static_cast<std::size_t>(options.num_thresholds), 0);
  curve.false_positives = curve.true_positives;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const float weight = options.weights.empty() ? 1 : options.weights[options.weights.size() == 1 ? 0 : i];
    if (std::isnan(predictions[i])) throw InvalidArgument(cat("predictions[", i, "] is NaN"));
    if (!std::isfinite(weight)) throw InvalidArgument(cat("the weight of example ", i, " is ", weight));
    // In float, as TensorBoard does it: 0.7f * 10 is 7 there, and a little less in double.
    const auto bucket = static_cast<std::size_t>(std::clamp(predictions[i], 0.0f, 1.0f) * last);
    (labels[i] ? curve.true_positives : curve.false_positives)[bucket] += weight;
  }
  sum_from_the_end(curve.true_positives);
  sum_from_the_end(curve.false_positives);
  curve.true_negatives = rest_of(curve.false_positives);
  curve.false_negatives = rest_of(curve.true_positives);
  curve.finish();
  return curve;
}

std::string pr_curve_value(const std::string& tag, const PrCurve& curve, const PrCurveRawOptions& options) {
  const Tensor rows = rows_of(curve);
  pb::PrCurvePluginData content;
  content.set_num_thresholds(static_cast<std::uint32_t>(curve.true_positives.size()));
  pb::Summary summary;
  pb::Summary::Value& value = add_plugin_value(summary, tag, "pr_curves", content.SerializeAsString());
  const std::string& shown = options.display_name.empty() ? tag : options.display_name;
  value.mutable_metadata()->set_display_name(checked_text(shown, "display_name"));
  value.mutable_metadata()->set_summary_description(checked_text(options.description, "description"));
  write_content(rows, *value.mutable_tensor());
  return serialized(summary);
}

}  // namespace runnel
