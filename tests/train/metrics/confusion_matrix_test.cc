// Matrices of classes and means over classes, worked by hand.
#include "train/metrics/confusion_matrix.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <initializer_list>
#include <optional>

#include "graph/error.h"
#include "graph/graph.h"
#include "ops/ops.h"

using namespace runnel;

namespace {

Output classes(Graph& g, std::initializer_list<std::int64_t> numbers) {
  return constant(g, Tensor::vector<std::int64_t>(numbers));
}

// A streamed metric over two int32 placeholders.
struct Stream {
  template <class Make>
  explicit Stream(Make make)
      : l(placeholder<std::int32_t>(g, {kUnknown}, "l")),
        p(placeholder<std::int32_t>(g, {kUnknown}, "p")),
        m(make(l, p)),
        s(g) {
    s.run(initialize_local_variables(g));
  }
  Tensor add(std::initializer_list<std::int32_t> labels, std::initializer_list<std::int32_t> predictions) {
    return s.run(m.update_op,
                 {{l, Tensor::vector<std::int32_t>(labels)}, {p, Tensor::vector<std::int32_t>(predictions)}});
  }
  Graph g;
  Output l, p;
  Metric m;
  Session s;
};

}  // namespace

TEST_CASE("rows are labels and columns predictions") {
  Graph g;
  const Output m =
      metrics::confusion_matrix(classes(g, {1, 2, 2}), classes(g, {2, 2, 0}), {.num_classes = 3});
  CHECK(m.shape() == Shape{3, 3});
  CHECK(evaluate(m) == Tensor::matrix<std::int32_t>({{0, 0, 0}, {0, 0, 1}, {1, 0, 1}}));
}

TEST_CASE("without a number of classes it is one more than the highest, and none for an empty batch") {
  Graph g;
  const Output m =
      metrics::confusion_matrix(classes(g, {0, 1}), classes(g, {2, 1}), {.dtype = DType::kInt64});
  CHECK(evaluate(m) == Tensor::matrix<std::int64_t>({{0, 0, 1}, {0, 1, 0}, {0, 0, 0}}));
  const Output none = metrics::confusion_matrix(classes(g, {}), classes(g, {}));
  CHECK(evaluate(none).shape() == Shape{0, 0});
}

TEST_CASE("cells hold weights if there are any") {
  Graph g;
  const Output w = constant(g, Tensor::vector<double>({0.5, 0.25, 2}));
  const Output m = metrics::confusion_matrix(classes(g, {0, 0, 1}), classes(g, {1, 1, 1}),
                                             {.num_classes = 2, .dtype = DType::kDouble, .weights = w});
  CHECK(evaluate(m) == Tensor::matrix<double>({{0, 0.75}, {0, 2}}));
}

TEST_CASE("classes outside of the matrix end the step and are shown") {
  const auto matrix = [](std::optional<std::int64_t> n, std::int64_t label, std::int64_t prediction) {
    Graph g;
    const Output l = placeholder<std::int64_t>(g, {2}, "l"), p = placeholder<std::int64_t>(g, {2}, "p");
    const Output m = metrics::confusion_matrix(l, p, {.num_classes = n, .name = "m"});
    return Session(g).run(m, {{l, Tensor::vector<std::int64_t>({0, label})},
                              {p, Tensor::vector<std::int64_t>({0, prediction})}});
  };
  CHECK_THROWS_WITH_AS(
      matrix(2, 2, 0),
      "Assert 'm/assert_labels/Assert': assertion failed: [labels are not all in [0, num_classes):] [0 2] "
      "[num_classes =] [2]",
      InvalidArgument);
  CHECK_THROWS_WITH_AS(matrix(2, -1, 0), doctest::Contains("labels are not all"), InvalidArgument);
  CHECK_THROWS_WITH_AS(matrix(2, 0, 2), doctest::Contains("predictions are not all"), InvalidArgument);
  CHECK_THROWS_WITH_AS(matrix({}, 0, 3037000500),
                       doctest::Contains("a class is not under 32768:] [3037000500]"), InvalidArgument);
}

TEST_CASE("a matrix refuses other shapes and impossible sizes") {
  Graph g;
  const Output v = classes(g, {0, 1}), square = constant(g, Tensor::matrix<std::int64_t>({{0, 1}, {1, 0}}));
  CHECK_THROWS_AS(metrics::confusion_matrix(v, classes(g, {0})), InvalidArgument);
  CHECK_THROWS_WITH_AS(metrics::confusion_matrix(v, v, {.num_classes = 0}),
                       "confusion_matrix: num_classes is 0, not in [1, 32768)", InvalidArgument);
  CHECK_THROWS_AS(metrics::mean_iou(v, v, 1 << 20), InvalidArgument);
  CHECK_THROWS_WITH_AS(metrics::confusion_matrix(square, square),
                       doctest::Contains("predictions must be a vector"), InvalidArgument);
}

TEST_CASE("a streamed matrix adds batches up in double") {
  Stream t([](Output l, Output p) { return metrics::streaming_confusion_matrix(l, p, 2); });
  CHECK(t.s.run(t.m.value) == Tensor::zeros(DType::kDouble, {2, 2}));
  CHECK(t.add({0, 1}, {1, 1}) == Tensor::matrix<double>({{0, 1}, {0, 1}}));
  CHECK(t.add({}, {}) == Tensor::matrix<double>({{0, 1}, {0, 1}}));
  t.add({0}, {1});
  CHECK(t.s.run(t.m.value) == Tensor::matrix<double>({{0, 2}, {0, 1}}));
  CHECK(t.g.variables(keys::kMetricVariables)[0].name() == "confusion_matrix/total_confusion_matrix");
}

TEST_CASE("the mean intersection over union leaves out classes that never occurred") {
  Stream t([](Output l, Output p) { return metrics::mean_iou(l, p, 4); });
  CHECK(t.s.run(t.m.value).scalar<float>() == 0);
  t.add({0, 0, 1}, {0, 1, 1});  // class 0: 1 / 2, class 1: 1 / 2
  CHECK(t.s.run(t.m.value).scalar<float>() == 0.5f);
  t.add({2}, {2});
  CHECK(t.s.run(t.m.value).scalar<float>() == doctest::Approx(2.0 / 3));
}

TEST_CASE("the mean accuracy of classes counts each class once, however often it occurs") {
  Stream t([](Output l, Output p) { return metrics::mean_per_class_accuracy(l, p, 2); });
  CHECK(t.add({0, 0, 0, 1}, {0, 0, 0, 0}) == Tensor::vector<float>({1, 0}));
  CHECK(t.s.run(t.m.value).scalar<float>() == 0.5f);
  CHECK_THROWS_AS(t.add({2}, {0}), InvalidArgument);
}

TEST_CASE("images of classes are made flat, and their weights with them") {
  Graph g;
  const Output l = constant(g, Tensor::matrix<std::int32_t>({{0, 1}, {1, 0}})),
               p = constant(g, Tensor::matrix<std::int32_t>({{0, 1}, {0, 0}}));
  const Output w = constant(g, Tensor::matrix<float>({{1}, {2}}));
  const Metric m = metrics::streaming_confusion_matrix(l, p, 2, {.weights = w});
  Session s(g);
  s.run(initialize_local_variables(g));
  CHECK(s.run(m.update_op) == Tensor::matrix<double>({{3, 0}, {2, 1}}));
}
