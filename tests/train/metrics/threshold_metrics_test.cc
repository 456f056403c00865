// Counts at thresholds and areas under curves. Numbers are TensorFlow 2.21's for the same two batches.
#include "train/metrics/threshold_metrics.h"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <vector>

#include "graph/error.h"
#include "graph/log.h"
#include "tests/train/metrics/streamed.h"
#include "train/metrics/auc.h"

using namespace runnel;
using metrics::Curve, metrics::SummationMethod;

namespace {

Tensor floats(std::initializer_list<float> values) { return Tensor::vector<float>(values); }

struct Areas {
  float before, first, second;
};
Areas areas(const metrics::AucOptions& options) {
  Streamed s([&](Streamed& m) { return metrics::auc(m.labels, m.predictions, options); });
  const float before = s.number(), first = s.add({1, 0, 1, 1}, {.9f, .1f, .4f, .8f}).scalar<float>();
  s.add({0, 0, 1, 0}, {.6f, .3f, .7f, .2f});
  return {before, first, s.number()};
}

}  // namespace

TEST_CASE("a prediction is positive above a threshold, not at it") {
  Streamed s([](Streamed& m) {
    return metrics::true_positives_at_thresholds(m.labels, m.predictions, {0.25f, 0.5f, 0.75f});
  });
  CHECK(s.value() == floats({0, 0, 0}));
  CHECK(s.add({1, 1, 0}, {0.5f, 0.75f, 1}) == floats({2, 1, 0}));
  CHECK(s.add({}, {}) == floats({2, 1, 0}));
  CHECK(s.value() == floats({2, 1, 0}));
}

TEST_CASE("the four counts at a threshold add up to all elements") {
  using Make = Metric (*)(Output, Output, const std::vector<float>&, MetricOptions);
  float sum = 0;
  for (const Make make : {metrics::true_positives_at_thresholds, metrics::false_positives_at_thresholds,
                          metrics::true_negatives_at_thresholds, metrics::false_negatives_at_thresholds}) {
    Streamed s([&](Streamed& m) { return make(m.labels, m.predictions, {0.5f}, {}); });
    const float count = s.add({1, 0, 1, 0}, {.9f, .9f, .1f, .2f}).values<float>()[0];
    CHECK(count == 1);
    sum += count;
  }
  CHECK(sum == 4);
}

TEST_CASE("precision and recall at thresholds have a little in their denominators") {
  Streamed p([](Streamed& m) {
    return metrics::precision_at_thresholds(m.labels, m.predictions, {0.2f, 0.95f}, {.weights = m.weights});
  });
  CHECK(p.add({1, 0}, {.9f, .5f}, {3, 1}) == floats({3 / (1e-7f + 4), 0}));
  Streamed r([](Streamed& m) {
    return metrics::recall_at_thresholds(m.labels, m.predictions, {0.2f, 0.95f});
  });
  CHECK(r.add({1, 0}, {.9f, .5f}) == floats({1 / (1e-7f + 1), 0}));
}

TEST_CASE("a perfect ranking has just under 1, and batches are joined by their counts") {
  const Areas roc = areas({});
  CHECK(roc.before == 0);
  CHECK(roc.first == 0.99999905f);
  CHECK(roc.second == 0.93749976f);
  CHECK(areas({.num_thresholds = 3}).second == doctest::Approx(0.7499998f));
}

TEST_CASE("methods of summation order the area, and careful interpolation is for precision and recall") {
  const auto area = [](SummationMethod method) {
    return areas({.num_thresholds = 5, .curve = Curve::kPr, .summation_method = method}).second;
  };
  CHECK(area(SummationMethod::kMinoring) < area(SummationMethod::kMajoring));
  const Areas careful =
      areas({.curve = Curve::kPr, .summation_method = SummationMethod::kCarefulInterpolation});
  CHECK(careful.before == 0);
  CHECK(careful.first == 1);
  CHECK(careful.second == doctest::Approx(0.9442141f));
}

TEST_CASE("trapezoids under a curve of precision are warned of") {
  std::string said;
  const ScopedLogSink sink([&](LogLevel, const std::string& line) { said = line; });
  areas({.curve = Curve::kPr});
  CHECK(said == "auc: trapezoids are too large under a curve of precision; use kCarefulInterpolation");
}

TEST_CASE("given thresholds are sorted between the two ends") {
  Streamed s([](Streamed& m) {
    return metrics::auc(m.labels, m.predictions, {.thresholds = std::vector{0.75f, 0.25f}});
  });
  CHECK(s.graph.variables(keys::kMetricVariables)[0].shape() == Shape{4});
  CHECK(s.add({1, 0}, {0.5f, 0.1f}).scalar<float>() == doctest::Approx(1).epsilon(1e-5));
  CHECK(s.session.run(s.graph.variables(keys::kMetricVariables)[0]) == floats({1, 1, 0, 0}));
}

TEST_CASE("the first threshold has every prediction above it, the last none, 0 and 1 too") {
  Streamed s([](Streamed& m) { return metrics::auc(m.labels, m.predictions, {.num_thresholds = 2}); });
  s.add({1, 1, 1}, {0, 0.5f, 1});
  CHECK(s.session.run(s.graph.variables(keys::kMetricVariables)[0]) == floats({3, 0}));
}

TEST_CASE("predictions outside of [0, 1], and NaN, end the step, also with labels that are bools") {
  Graph g;
  const Output l = placeholder<bool>(g, {2}, "l"), p = placeholder<float>(g, {2}, "p");
  const Metric m = metrics::auc(l, p);
  Session s(g);
  s.run(initialize_local_variables(g));
  const Tensor labels = Tensor::from<bool>({2}, std::array<bool, 2>{true, false});
  CHECK_THROWS_WITH_AS(s.run(m.update_op, {{l, labels}, {p, floats({1.5f, 0})}}),
                       "Assert 'auc/assert_in_unit_interval/Assert': assertion failed: [predictions must be "
                       "in [0, 1]] [p:0 =] [1.5 0]",
                       InvalidArgument);
  for (const float bad : {-0.1f, std::numeric_limits<float>::quiet_NaN()})
    CHECK_THROWS_AS(s.run(m.update_op, {{l, labels}, {p, floats({0, bad})}}), InvalidArgument);
  CHECK(s.run(m.value).scalar<float>() == 0);
}

TEST_CASE("thresholds that make no curve, and predictions that are no floats, are refused") {
  Graph g;
  const Output x = placeholder<float>(g, {2}, "x"), n = placeholder<std::int32_t>(g, {2}, "n");
  CHECK_THROWS_WITH_AS(metrics::auc(x, x, {.num_thresholds = 1}),
                       "auc: num_thresholds is 1, but a curve has two ends", InvalidArgument);
  CHECK_THROWS_WITH_AS(metrics::auc(x, x, {.num_thresholds = 2'000'000'000}),
                       "auc: num_thresholds is 2000000000; give 1000000 or fewer", InvalidArgument);
  CHECK_THROWS_WITH_AS(metrics::recall_at_thresholds(x, x, {}),
                       "recall_at_thresholds: there are no thresholds", InvalidArgument);
  CHECK_THROWS_WITH_AS(metrics::auc(x, n),
                       "auc: predictions must be float or double, but are n:0 of int32[2]", InvalidArgument);
}
