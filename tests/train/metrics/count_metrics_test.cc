// Counts and what is made of them, worked by hand. The two batches are those of behaviours 20.2.
#include "train/metrics/count_metrics.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "graph/error.h"
#include "tests/train/metrics/streamed.h"

using namespace runnel;

namespace {

using Make = Metric (*)(Output, Output, MetricOptions);
struct Found {
  float before, first, second;
};
Found found(Make make) {
  Streamed s([&](Streamed& m) { return make(m.labels, m.predictions, {}); });
  const float before = s.number(), first = s.add({1, 0, 1, 1}, {1, 0, 0, 1}).scalar<float>();
  s.add({0, 0, 1, 0}, {1, 0, 1, 0});
  return {before, first, s.number()};
}

}  // namespace

TEST_CASE("each element is counted as one of four kinds") {
  struct Row {
    Make make;
    float first, second;
  };
  for (const Row& row : {Row{metrics::true_positives, 2, 3},
                         {metrics::false_positives, 0, 1},
                         {metrics::true_negatives, 1, 3},
                         {metrics::false_negatives, 1, 1}}) {
    const Found f = found(row.make);
    CHECK(f.before == 0);
    CHECK(f.first == row.first);
    CHECK(f.second == row.second);
  }
}

TEST_CASE("precision is TP / (TP + FP), recall TP / (TP + FN), over all batches") {
  const Found precision = found(metrics::precision), recall = found(metrics::recall);
  CHECK(precision.before == 0);
  CHECK(precision.first == 1);
  CHECK(precision.second == 0.75f);
  CHECK(recall.before == 0);
  CHECK(recall.first == doctest::Approx(2.0 / 3));
  CHECK(recall.second == 0.75f);
}

TEST_CASE("F1 is the harmonic mean of both over all batches, not the mean of the batches' own") {
  Streamed s([](Streamed& m) { return metrics::f1(m.labels, m.predictions); });
  CHECK(s.number() == 0);
  CHECK(s.add({1, 0, 1, 1}, {1, 0, 0, 1}).scalar<float>() == doctest::Approx(0.8));  // 2 * 2 / (4 + 0 + 1)
  CHECK(s.add({0, 1}, {1, 0}).scalar<float>() == doctest::Approx(4.0 / 7));          // 2 * 2 / (4 + 1 + 2)
  CHECK(s.number() == doctest::Approx(4.0 / 7));
  const float p = 2.0f / 3, r = 2.0f / 4;
  CHECK(2 / s.number() == doctest::Approx(1 / p + 1 / r));
}

TEST_CASE("F1 is high only if precision and recall both are") {
  Streamed s([](Streamed& m) { return metrics::f1(m.labels, m.predictions); });
  std::vector<float> labels(100, 0), predictions(100, 1);
  labels[0] = 1;  // recall 1, precision 1 / 100
  CHECK(s.add(labels, predictions).scalar<float>() == doctest::Approx(2.0 / 101));
}

TEST_CASE("without any positive all three are 0, not NaN") {
  for (const Make make : {metrics::precision, metrics::recall, metrics::f1}) {
    Streamed s([&](Streamed& m) { return make(m.labels, m.predictions, {}); });
    CHECK(s.add({0, 0}, {0, 0}).scalar<float>() == 0);
    CHECK(s.add({}, {}).scalar<float>() == 0);
  }
}

TEST_CASE("what is not 0 is true, and weights count") {
  Streamed s([](Streamed& m) { return metrics::precision(m.labels, m.predictions, {.weights = m.weights}); });
  CHECK(s.add({-1, 0, 0.5f, 0}, {2, 0.1f, 7, 1}, {1, 2, 4, 0}).scalar<float>() == doctest::Approx(5.0 / 7));
}

TEST_CASE("a checkpoint of precision has the names of its two counts") {
  Graph g;
  const Output x = placeholder<bool>(g, {kUnknown}, "x");
  metrics::precision(x, x);
  metrics::f1(x, x, {.name = "score"});
  std::vector<std::string> names;
  for (const Variable& v : g.variables(keys::kMetricVariables)) names.push_back(v.name());
  CHECK(names == std::vector<std::string>{"precision/true_positives/count", "precision/false_positives/count",
                                          "score/true_positives/count", "score/false_positives/count",
                                          "score/false_negatives/count"});
}

TEST_CASE("counts refuse other shapes by their own name") {
  Graph g;
  const Output l = placeholder<float>(g, {4}, "l"), p = placeholder<float>(g, {3}, "p");
  CHECK_THROWS_WITH_AS(
      metrics::recall(l, p),
      "recall: shapes differ: labels are recall/Cast_1:0 of bool[4], predictions recall/Cast:0 of bool[3]",
      InvalidArgument);
  CHECK_THROWS_AS(metrics::true_negatives(l, l, {.weights = p}), InvalidArgument);
}
