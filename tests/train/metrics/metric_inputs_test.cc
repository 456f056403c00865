// Which shapes of labels, predictions and weights fit, when they are known and when they are not.
#include "train/metrics/metric_inputs.h"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "graph/error.h"
#include "graph/graph.h"
#include "ops/ops.h"
#include "tests/graph/thrown.h"
#include "train/metrics/mean_metrics.h"

using namespace runnel;

namespace {

// The sum of the weights that a mean over ones counts, for weights of that shape, all ones.
float counted(const Shape& values, const Shape& weights, bool known) {
  Graph g;
  const Output x = placeholder<float>(g, known ? values : Shape::unknown(), "x");
  const Output w = placeholder<float>(g, known ? weights : Shape::unknown(), "w");
  const Metric m = metrics::mean(x, {.weights = w});
  Session s(g);
  s.run(initialize_local_variables(g));
  const auto ones = [](const Shape& shape) {
    return Tensor::from(shape, std::vector<float>(static_cast<std::size_t>(shape.elements()), 1.0f));
  };
  s.run(m.update_op, {{x, ones(values)}, {w, ones(weights)}});
  return s.run(g.variables(keys::kLocalVariables)[1]).scalar<float>();
}

std::string refusal(const Shape& values, const Shape& weights, bool known) {
  return message_of<InvalidArgument>([&] { counted(values, weights, known); });
}

}  // namespace

TEST_CASE("weights are spread over the values, whether shapes are known or not") {
  struct Row {
    Shape values, weights;
    float sum;
  };
  for (const Row& row : {Row{{3, 2}, {3, 2}, 6},
                         {{3, 2}, {}, 6},
                         {{3, 2}, {1, 2}, 6},
                         {{3, 2}, {3, 1}, 6},
                         {{3, 2}, {1, 1}, 6},
                         {{3, 2}, {3}, 6},
                         {{3, 2}, {1}, 6},
                         {{3}, {3, 1}, 3},
                         {{}, {1}, 1},
                         {{0, 2}, {0, 2}, 0},
                         {{0, 2}, {1, 2}, 0},
                         {{0}, {}, 0},
                         {{}, {}, 1}})
    for (const bool known : {true, false}) {
      CAPTURE(row.values);
      CAPTURE(row.weights);
      CAPTURE(known);
      CHECK(counted(row.values, row.weights, known) == row.sum);
    }
}

TEST_CASE("weights that do not fit are refused while the graph is built or in the step") {
  CHECK(refusal({3, 2}, {3, 3}, true) ==
        "mean: weights can not be broadcast to values: weights are w:0 of float[3,3], values x:0 of "
        "float[3,2]; each "
        "dimension must be 1 or that of the values");
  CHECK(refusal({3, 2}, {3, 3}, false) ==
        "Assert 'mean/broadcast_weights/assert_broadcastable/Assert': assertion failed: [weights can not be "
        "broadcast to "
        "values. weights.shape=] [3 3] [values.shape=] [3 2]");
  for (const auto& row : {std::pair<Shape, Shape>{{3, 2}, {2}},
                          {{3}, {3, 3}},
                          {{3}, {2}},
                          {{3}, {3, 1, 1}},
                          {{3, 2}, {3, 2, 2}},
                          {{}, {2}}})
    for (const bool known : {true, false}) {
      CAPTURE(row.first);
      CAPTURE(row.second);
      CAPTURE(known);
      CHECK(refusal(row.first, row.second, known).find("weights can not be broadcast to values") !=
            std::string::npos);
    }
}

TEST_CASE("weights of a known rank and unknown dimensions are looked at in the step") {
  Graph g;
  const Output x = placeholder<float>(g, {kUnknown, 2}, "x"), w = placeholder<float>(g, {kUnknown, 1}, "w");
  const Metric m = metrics::mean(x, {.weights = w});
  Session s(g);
  s.run(initialize_local_variables(g));
  const Tensor values = Tensor::matrix<float>({{1, 2}, {3, 4}, {5, 6}});
  CHECK(s.run(m.update_op, {{x, values}, {w, Tensor::matrix<float>({{1}, {0}, {1}})}}).scalar<float>() ==
        3.5f);
  CHECK_THROWS_AS(s.run(m.update_op, {{x, values}, {w, Tensor::matrix<float>({{1}, {0}})}}), InvalidArgument);
  CHECK(s.run(m.value).scalar<float>() == 3.5f);
}

TEST_CASE("one dimension of 1 more at the end is dropped, from labels or predictions") {
  for (const bool known : {true, false})
    for (const bool labels_longer : {true, false}) {
      Graph g;
      const Shape longer = known ? Shape{3, 1} : Shape::unknown(),
                  shorter = known ? Shape{3} : Shape::unknown();
      const Output l = placeholder<float>(g, labels_longer ? longer : shorter, "l");
      const Output p = placeholder<float>(g, labels_longer ? shorter : longer, "p");
      const Metric m = metrics::mean_absolute_error(l, p);
      Session s(g);
      s.run(initialize_local_variables(g));
      const Tensor column = Tensor::matrix<float>({{1}, {2}, {3}}), row = Tensor::vector<float>({1, 2, 6});
      CHECK(s.run(m.update_op, {{l, labels_longer ? column : row}, {p, labels_longer ? row : column}})
                .scalar<float>() == 1);
    }
}

TEST_CASE("labels and predictions whose shapes differ are refused with both") {
  Graph g;
  const Output l = placeholder<float>(g, {4}, "l"), p = placeholder<float>(g, {3}, "p"),
               wide = placeholder<float>(g, {4, 2}, "wide");
  CHECK_THROWS_WITH_AS(metrics::accuracy(l, p),
                       "accuracy: shapes differ: labels are l:0 of float[4], predictions p:0 of float[3]",
                       InvalidArgument);
  CHECK_THROWS_AS(metrics::mean_squared_error(l, wide), InvalidArgument);
  CHECK_THROWS_AS(metrics::mean_relative_error(l, l, p), InvalidArgument);
}
