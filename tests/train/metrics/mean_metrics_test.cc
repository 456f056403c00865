// Means over batches, worked by hand.
#include "train/metrics/mean_metrics.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "graph/error.h"
#include "tests/train/metrics/streamed.h"

using namespace runnel;

namespace {

Tensor floats(std::initializer_list<float> values) { return Tensor::vector<float>(values); }

}  // namespace

TEST_CASE("a mean is of all values so far, also when the last batch is smaller or empty") {
  Streamed s([](Streamed& m) { return metrics::mean(m.labels); });
  CHECK(s.number() == 0);
  CHECK(s.add({1, 2, 3}, {}).scalar<float>() == 2);
  CHECK(s.add({10}, {}).scalar<float>() == 4);
  CHECK(s.add({}, {}).scalar<float>() == 4);
  CHECK(s.number() == 4);
  CHECK(s.number() == 4);
}

TEST_CASE("weights count, zeros leave values out, and only zeros give 0") {
  Streamed s([](Streamed& m) { return metrics::mean(m.labels, {.weights = m.weights}); });
  CHECK(s.add({5, 7}, {}, {0, 0}).scalar<float>() == 0);
  CHECK(s.add({1, 2, 100}, {}, {1, 3, 0}).scalar<float>() == 1.75f);
  Streamed half([](Streamed& m) { return metrics::mean(m.labels, {.weights = 0.5f}); });
  CHECK(half.add({1, 2}, {}).scalar<float>() == 1.5f);
  Streamed negative([](Streamed& m) { return metrics::mean(m.labels, {.weights = -1.0f}); });
  CHECK(negative.add({1, 2}, {}).scalar<float>() == 0);
}

TEST_CASE("the value in one step with the update is the one from before the batch") {
  Streamed s([](Streamed& m) { return metrics::mean(m.labels); });
  s.add({1, 3}, {});
  for (int again = 0; again < 2; ++again) {
    const float before = s.number();
    const auto [value, update] =
        s.session.run({s.metric.value, s.metric.update_op}, {{s.labels, floats({8})}});
    CHECK(value.scalar<float>() == before);
    CHECK(update.scalar<float>() == s.number());
    CHECK(s.number() > before);
  }
}

TEST_CASE("initialising the local variables again starts over") {
  Streamed s([](Streamed& m) { return metrics::mean(m.labels); });
  s.add({1, 3}, {});
  s.session.run(s.graph.variables(keys::kLocalVariables)[0].parts().initializer);
  s.session.run(s.graph.variables(keys::kLocalVariables)[1].parts().initializer);
  CHECK(s.number() == 0);
  CHECK(s.add({7}, {}).scalar<float>() == 7);
}

TEST_CASE("a metric before its variables are initialised is refused") {
  Graph g;
  const Metric m = metrics::mean(placeholder<float>(g, {kUnknown}, "x"));
  Session s(g);
  CHECK_THROWS_AS(s.run(m.value), FailedPrecondition);
}

TEST_CASE("variables are local, not trainable, and named by the scope") {
  Graph g;
  const Output x = placeholder<float>(g, {kUnknown}, "x");
  metrics::mean(x);
  metrics::mean(x);
  const NameScope scope(g, "eval");
  const Metric m =
      metrics::accuracy(x, x, {.metrics_collections = {"m"}, .updates_collections = {"u"}, .name = "right"});
  std::vector<std::string> names;
  for (const Variable& v : g.variables(keys::kLocalVariables)) names.push_back(v.name());
  CHECK(names == std::vector<std::string>{"mean/total", "mean/count", "mean_1/total", "mean_1/count",
                                          "eval/right/total", "eval/right/count"});
  CHECK(g.variables(keys::kMetricVariables).size() == names.size());
  CHECK(g.variables(keys::kTrainableVariables).empty());
  CHECK(g.variables(keys::kGlobalVariables).empty());
  CHECK(m.value.name() == "eval/right/value:0");
  CHECK(std::get<Output>(g.collection("m").at(0)) == m.value);
  CHECK(std::get<Output>(g.collection("u").at(0)) == m.update_op);
}

TEST_CASE("a float count stays at 2 to the 24th when single elements are added, as documented") {
  Streamed s([](Streamed& m) { return metrics::mean(m.labels); });
  const Variable count = s.graph.variables(keys::kLocalVariables)[1];
  s.session.run(assign(count, 16777215.0f));
  for (int i = 0; i < 2; ++i) s.add({0}, {});
  CHECK(s.session.run(count).scalar<float>() == 16777216.0f);
}

TEST_CASE("accuracy casts predictions to the labels' dtype and drops a last dimension of 1") {
  Graph g;
  const Output labels = placeholder<std::int64_t>(g, {kUnknown, 1}, "labels");
  const Output predictions = placeholder<float>(g, {kUnknown}, "predictions");
  const Metric m = metrics::accuracy(labels, predictions);
  Session s(g);
  s.run(initialize_local_variables(g));
  CHECK(s.run(m.update_op, {{labels, Tensor::matrix<std::int64_t>({{1}, {2}, {3}, {4}})},
                            {predictions, floats({1.9f, 2, 2, -4})}})
            .scalar<float>() == 0.5f);
}

TEST_CASE("accuracy compares strings") {
  Graph g;
  const Output a = constant(g, Tensor::vector<std::string>({"x", "y"})),
               b = constant(g, Tensor::vector<std::string>({"x", "z"}));
  const Metric m = metrics::accuracy(a, b);
  Session s(g);
  s.run(initialize_local_variables(g));
  CHECK(s.run(m.update_op).scalar<float>() == 0.5f);
}

TEST_CASE("errors are squared, rooted, absolute and relative as their names say") {
  const std::vector<float> labels{1, 2, 0}, predictions{3, 2, -1};  // off by 2, 0 and 1
  using Make = Metric (*)(Output, Output, MetricOptions);
  const auto of = [&](Make make) {
    Streamed s([&](Streamed& m) { return make(m.labels, m.predictions, {}); });
    return s.add(labels, predictions).scalar<float>();
  };
  CHECK(of(metrics::mean_squared_error) == doctest::Approx(5.0 / 3));
  CHECK(of(metrics::root_mean_squared_error) == doctest::Approx(std::sqrt(5.0 / 3)));
  CHECK(of(metrics::mean_absolute_error) == 1);
  Streamed relative(
      [](Streamed& m) { return metrics::mean_relative_error(m.labels, m.predictions, m.weights); });
  CHECK(relative.add(labels, predictions, {4, 1, 0}).scalar<float>() == doctest::Approx(0.5 / 3));
  Streamed below([](Streamed& m) { return metrics::percentage_below(m.labels, 1.5f); });
  CHECK(below.add(labels, {}).scalar<float>() == doctest::Approx(2.0 / 3));
}

TEST_CASE("the root is of the mean over all batches") {
  Streamed s([](Streamed& m) { return metrics::root_mean_squared_error(m.labels, m.predictions); });
  s.add({0}, {3});
  s.add({0}, {4});
  CHECK(s.number() == doctest::Approx(std::sqrt(12.5)));
}

TEST_CASE("the cosine distance of equal rows of length 1 is 0, of opposite ones 2") {
  Graph g;
  const Output a = constant(g, Tensor::matrix<float>({{1, 0}, {0, 1}})),
               b = constant(g, Tensor::matrix<float>({{1, 0}, {0, -1}}));
  const Metric same = metrics::mean_cosine_distance(a, a, 1), half = metrics::mean_cosine_distance(a, b, 1);
  Session s(g);
  s.run(initialize_local_variables(g));
  CHECK(s.run(same.update_op).scalar<float>() == 0);
  CHECK(s.run(half.update_op).scalar<float>() == 1);
}

TEST_CASE("a mean tensor has a mean for each element, and needs a known shape") {
  Graph g;
  const Output x = placeholder<float>(g, {2}, "x");
  const Metric m = metrics::mean_tensor(x, {.weights = constant(g, Tensor::vector<float>({1, 0}))});
  Session s(g);
  s.run(initialize_local_variables(g));
  s.run(m.update_op, {{x, floats({1, 5})}});
  CHECK(s.run(m.update_op, {{x, floats({4, 5})}}) == floats({2.5f, 0}));
  CHECK_THROWS_WITH_AS(metrics::mean_tensor(placeholder<float>(g, {kUnknown}, "y")),
                       "mean_tensor: the shape of y:0 of float[?] is not known: it is that of the variables",
                       InvalidArgument);
}
