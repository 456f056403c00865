// Curves against TensorBoard's own, and worked by hand.
#include "summary/values/pr_curve.h"

#include <doctest/doctest.h>

#include <cmath>

#include "graph/error.h"
#include "tests/summary/golden_plugins.h"

using namespace runnel;

namespace {

using Row = std::vector<double>;

constexpr bool kLabels[] = {true, false, true, true};
constexpr float kPredictions[] = {0.9f, 0.4f, 0.6f, 0.1f};

PrCurve curve_of(const PrCurveOptions& options = {}) { return pr_curve_of(kLabels, kPredictions, options); }

}  // namespace

TEST_CASE("a curve has the bytes of TensorBoard's function") {
  pb::Summary::Value golden = golden_plugin_value("pr/pr_curves");
  golden.set_tag("pr");
  const std::string ours = pr_curve_value("pr", curve_of({.num_thresholds = 5}));
  CHECK(value_in(ours).SerializeAsString() == golden.SerializeAsString());
}

TEST_CASE("each threshold counts the predictions at or above it, worked by hand") {
  const PrCurve curve = curve_of({.num_thresholds = 3});
  CHECK(curve.true_positives == Row{3, 2, 0});
  CHECK(curve.false_positives == Row{1, 0, 0});
  CHECK(curve.true_negatives == Row{0, 1, 1});
  CHECK(curve.false_negatives == Row{0, 1, 3});
  CHECK(curve.precision == Row{0.75, 1, 0});
  CHECK(curve.recall == Row{1, 2.0 / 3, 0});
}

TEST_CASE("there are 201 thresholds if nobody says otherwise") {
  CHECK(curve_of().true_positives.size() == 201);
}

TEST_CASE("buckets are found in float: 0.7f reaches the threshold 0.7") {
  constexpr bool label[] = {true};
  constexpr float prediction[] = {0.7f};
  CHECK(pr_curve_of(label, prediction, {.num_thresholds = 11}).true_positives ==
        Row{1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0});
}

TEST_CASE("predictions outside of [0, 1] count as its ends") {
  constexpr bool labels[] = {true, true, false};
  constexpr float predictions[] = {1.5f, -3.0f, INFINITY};
  const PrCurve curve = pr_curve_of(labels, predictions, {.num_thresholds = 3});
  CHECK(curve.true_positives == Row{2, 1, 1});
  CHECK(curve.false_positives == Row{1, 1, 1});
}

TEST_CASE("weights are one an example or one for all, and may hide examples") {
  const PrCurve each = curve_of({.num_thresholds = 3, .weights = {0.5f, 2, 0, 0}});
  CHECK(each.true_positives == Row{0.5, 0.5, 0});
  CHECK(each.false_positives == Row{2, 0, 0});
  CHECK(curve_of({.num_thresholds = 3, .weights = {2}}).true_positives == Row{6, 4, 0});
}

TEST_CASE("counts of batches add up to those of all examples") {
  PrCurve sum = curve_of({.num_thresholds = 3});
  for (auto* row : {&sum.true_positives, &sum.false_positives, &sum.true_negatives, &sum.false_negatives})
    for (double& count : *row) count *= 2;
  sum.finish();
  CHECK(sum.precision == curve_of({.num_thresholds = 3}).precision);
  CHECK(sum.recall == curve_of({.num_thresholds = 3}).recall);
}

TEST_CASE("display name and description go into the metadata") {
  const std::string bytes =
      pr_curve_value("t", curve_of(), {.display_name = "shown", .description = "*what*"});
  CHECK(value_in(bytes).metadata().display_name() == "shown");
  CHECK(value_in(bytes).metadata().summary_description() == "*what*");
  CHECK(content_of<pb::PrCurvePluginData>(value_in(bytes)).num_thresholds() == 201);
}

TEST_CASE("what gives no curve is refused") {
  constexpr float nan[] = {0.5f, 0.5f, NAN, 0.5f};
  CHECK_THROWS_WITH_AS(pr_curve_of(kLabels, nan), "predictions[2] is NaN", InvalidArgument);
  CHECK_THROWS_WITH_AS(pr_curve_of(std::span(kLabels).first(3), kPredictions), "3 labels for 4 predictions",
                       InvalidArgument);
  CHECK_THROWS_WITH_AS(pr_curve_of({}, {}), "there are no labels, so there is no curve", InvalidArgument);
  CHECK_THROWS_WITH_AS(curve_of({.weights = {1, 2}}), "2 weights for 4 labels: give one each, or one for all",
                       InvalidArgument);
  CHECK_THROWS_WITH_AS(curve_of({.weights = {INFINITY}}), "the weight of example 0 is inf", InvalidArgument);
  for (const int n : {-1, 0, 1, 100'001}) {
    CAPTURE(n);
    CHECK_THROWS_AS(curve_of({.num_thresholds = n}), InvalidArgument);
  }
}

TEST_CASE("raw rows must be equally long and finite") {
  PrCurve curve = curve_of({.num_thresholds = 3});
  curve.recall[1] = NAN;
  CHECK_THROWS_WITH_AS(pr_curve_value("t", curve), "recall[1] is nan", InvalidArgument);
  curve.precision.pop_back();
  CHECK_THROWS_WITH_AS(pr_curve_value("t", curve), "precision has 2 elements, true_positives 3",
                       InvalidArgument);
  CHECK_THROWS_WITH_AS(pr_curve_value("t", {}), "a curve of 0 thresholds: give 2 to 100000", InvalidArgument);
}
