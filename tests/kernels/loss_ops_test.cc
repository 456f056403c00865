// Cross entropies: values by hand and by schoolbook loops, gradients by differences, names of nodes.
#include "ops/loss_ops.h"

#include <doctest/doctest.h>

#include <cmath>

#include "graph/error.h"
#include "graph/runtime/session.h"
#include "ops/array_ops.h"
#include "ops/gradient_check.h"
#include "ops/nn_ops.h"

using namespace runnel;

namespace {

std::vector<double> sparse_loop(const Tensor& x, const std::vector<std::int64_t>& labels,
                                std::int64_t columns) {
  std::vector<double> out;
  for (std::size_t row = 0; row < labels.size(); ++row) {
    const double* values = x.values<double>().data() + static_cast<std::int64_t>(row) * columns;
    double sum = 0;
    for (std::int64_t j = 0; j < columns; ++j) sum += std::exp(values[j]);
    out.push_back(std::log(sum) - values[labels[row]]);
  }
  return out;
}

std::vector<std::string> names_of(const Graph& g) {
  std::vector<std::string> names;
  for (const Node* node : g.nodes()) names.push_back(node->name());
  return names;
}

}  // namespace

TEST_CASE("equal logits lose the logarithm of the number of classes") {
  Graph g;
  const Output logits = constant(g, Tensor::zeros(DType::kDouble, {2, 4}));
  const Output loss = sparse_softmax_cross_entropy_with_logits(logits, Tensor::vector<std::int32_t>({0, 3}));
  CHECK(evaluate(loss).values<double>()[0] == doctest::Approx(std::log(4.0)));
  CHECK(evaluate(Output(loss.node(), 1)) ==
        Tensor::matrix<double>({{-0.75, 0.25, 0.25, 0.25}, {0.25, 0.25, 0.25, -0.75}}));
}

TEST_CASE("losses are what a schoolbook loop gives, with labels of both dtypes, alone or with the gradient") {
  for (const std::int64_t columns : {1, 3, 10, 70}) {
    CAPTURE(columns);
    Graph g;
    const Tensor x = random({3, columns});
    const std::vector<std::int64_t> labels = {0, columns - 1, columns / 2};
    const std::vector<double> want = sparse_loop(x, labels, columns);
    const Output logits = constant(g, x);
    const Output wide = sparse_softmax_cross_entropy_with_logits(logits, Tensor::vector(labels));
    const std::vector<std::int32_t> narrow_labels(labels.begin(), labels.end());
    const Output narrow = sparse_softmax_cross_entropy_with_logits(logits, Tensor::vector(narrow_labels));
    Session s(g);
    const auto [loss, gradient] = s.run({wide, Output(wide.node(), 1)});
    for (std::size_t i = 0; i < want.size(); ++i) CHECK(loss.values<double>()[i] == doctest::Approx(want[i]));
    CHECK(gradient.shape() == Shape{3, columns});
    const Tensor alone = s.run(narrow);
    for (std::size_t i = 0; i < want.size(); ++i)
      CHECK(alone.values<double>()[i] == doctest::Approx(want[i]));
  }
}

TEST_CASE("dense labels of one class give the sparse loss") {
  Graph g;
  const Tensor x = random({2, 3});
  const Output logits = constant(g, x);
  const Output dense =
      softmax_cross_entropy_with_logits(Tensor::matrix<double>({{0, 1, 0}, {1, 0, 0}}), logits);
  const std::vector<double> want = sparse_loop(x, {1, 0}, 3);
  const Tensor loss = evaluate(dense);
  for (std::size_t i = 0; i < want.size(); ++i) CHECK(loss.values<double>()[i] == doctest::Approx(want[i]));
}

TEST_CASE("cross entropies have the gradients that finite differences give") {
  const Tensor labels = Tensor::vector<std::int32_t>({1, 0, 3});
  const auto sparse = [&](const Outputs& in) {
    return sparse_softmax_cross_entropy_with_logits(in[0], labels);
  };
  CHECK(gradient_gap(sparse, {random({3, 4})}) < 1e-6);
  // The second output is the gradient by logits only where labels sum to 1.
  const auto dense = [](const Outputs& in) {
    return softmax_cross_entropy_with_logits_v2(softmax(in[1]), in[0]);
  };
  CHECK(gradient_gap(dense, {random({3, 4}), random({3, 4}, 2)}) < 1e-6);
}

TEST_CASE("the gradient that comes as second output has a gradient too") {
  const Tensor labels = Tensor::vector<std::int32_t>({1, 0, 3});
  const auto second = [&](const Outputs& in) {
    return Output(sparse_softmax_cross_entropy_with_logits(in[0], labels).node(), 1);
  };
  CHECK(gradient_gap(second, {random({3, 4})}) < 1e-6);
}

TEST_CASE("one row of labels serves all rows of logits") {
  Graph g;
  const Tensor x = random({2, 3});
  const Output logits = constant(g, x);
  const Output one =
      g.add("SoftmaxCrossEntropyWithLogits", {logits, constant(g, Tensor::matrix<double>({{0, 1, 0}}))});
  const std::vector<double> want = sparse_loop(x, {1, 1}, 3);
  const Tensor loss = evaluate(one);
  for (std::size_t i = 0; i < want.size(); ++i) CHECK(loss.values<double>()[i] == doctest::Approx(want[i]));
}

TEST_CASE("a label out of range is refused in full text") {
  Graph g;
  const Output labels = placeholder<std::int32_t>(g, {2}, "labels");
  const Output loss =
      sparse_softmax_cross_entropy_with_logits(constant(g, random({2, 3})), labels, {.name = "loss"});
  Session s(g);
  CHECK_THROWS_WITH_AS(
      s.run(loss, {{labels, Tensor::vector<std::int32_t>({0, 3})}}),
      "SparseSoftmaxCrossEntropyWithLogits 'loss/SparseSoftmaxCrossEntropyWithLogits': label 1 is 3, "
      "but must be at least 0 and less than 3, the number of classes",
      InvalidArgument);
  CHECK_THROWS_AS(s.run(loss, {{labels, Tensor::vector<std::int32_t>({-1, 0})}}), InvalidArgument);
}

TEST_CASE("labels of a wrong rank are refused while the graph is being built") {
  Graph g;
  const Output logits = placeholder<float>(g, {kUnknown, 3}, "x");
  const Output labels = placeholder<std::int32_t>(g, {kUnknown, 1}, "l");
  CHECK_THROWS_WITH_AS(
      sparse_softmax_cross_entropy_with_logits(logits, labels),
      "sparse_softmax_cross_entropy_with_logits: labels must have one dimension less than logits: "
      "labels are [?,1] (l:0), logits [?,3] (x:0)",
      InvalidArgument);
}

TEST_CASE("no rows lose nothing") {
  Graph g;
  const Output logits = constant(g, Tensor::zeros(DType::kFloat, {0, 3}));
  const Tensor none = Tensor::zeros(DType::kInt64, {0});
  CHECK(evaluate(sparse_softmax_cross_entropy_with_logits(logits, none)).shape() == Shape{0});
  CHECK(evaluate(softmax_cross_entropy_with_logits(logits, logits)).shape() == Shape{0});
}

TEST_CASE("nodes of the sparse loss are named as TensorFlow names them") {
  Graph g;
  const Output logits = placeholder<float>(g, {kUnknown, 3}, "x");
  sparse_softmax_cross_entropy_with_logits(logits, placeholder<std::int32_t>(g, {kUnknown}, "l"));
  CHECK(names_of(g) ==
        std::vector<std::string>{"x", "l", "SparseSoftmaxCrossEntropyWithLogits/Shape",
                                 "SparseSoftmaxCrossEntropyWithLogits/SparseSoftmaxCrossEntropyWithLogits"});
}

TEST_CASE("logits of three dimensions are flattened and the loss is shaped back") {
  Graph g;
  const Tensor x = random({2, 2, 3});
  const Output loss = sparse_softmax_cross_entropy_with_logits(
      constant(g, x), Tensor::from<std::int64_t>({2, 2}, {0, 1, 2, 1}));
  const Tensor got = evaluate(loss);
  CHECK(got.shape() == Shape{2, 2});
  const std::vector<double> want = sparse_loop(x, {0, 1, 2, 1}, 3);
  for (std::size_t i = 0; i < want.size(); ++i) CHECK(got.values<double>()[i] == doctest::Approx(want[i]));
  const Output dense =
      softmax_cross_entropy_with_logits(Tensor::zeros(DType::kDouble, {2, 2, 3}), constant(g, x));
  CHECK(evaluate(dense) == Tensor::zeros(DType::kDouble, {2, 2}));
}
