// Biases, rectified units and softmax: values by hand and by schoolbook loops, and gradients by differences.
#include "ops/nn_ops.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "graph/error.h"
#include "graph/runtime/session.h"
#include "ops/array_ops.h"
#include "ops/gradient_check.h"
#include "tests/kernels/larger_gap.h"

using namespace runnel;

namespace {

Tensor as_float(const Tensor& doubles) {
  std::vector<float> out(doubles.values<double>().begin(), doubles.values<double>().end());
  return Tensor::from(doubles.shape(), out);
}

// The largest difference between a float tensor and its double counterpart.
double gap(const Tensor& floats, const std::vector<double>& want) {
  double out = 0;
  for (std::size_t i = 0; i < want.size(); ++i)
    out = larger_gap(out, std::abs(static_cast<double>(floats.values<float>()[i]) - want[i]));
  return out;
}

std::vector<double> softmax_loop(const Tensor& x, std::int64_t columns) {
  std::vector<double> out;
  for (std::int64_t row = 0; row < x.elements() / columns; ++row) {
    const auto values = x.values<double>().subspan(static_cast<std::size_t>(row * columns),
                                                   static_cast<std::size_t>(columns));
    double sum = 0;
    for (const double v : values) sum += std::exp(v);
    for (const double v : values) out.push_back(std::exp(v) / sum);
  }
  return out;
}

}  // namespace

TEST_CASE("a bias goes to its channel in both layouts, worked by hand") {
  Graph g;
  const Output x = constant(g, Tensor::matrix<float>({{1, 2}, {3, 4}}));
  CHECK(evaluate(bias_add(x, Tensor::vector<float>({10, 20}))) ==
        Tensor::matrix<float>({{11, 22}, {13, 24}}));
  const Output planes = constant(g, Tensor::from<float>({1, 2, 3}, {1, 2, 3, 4, 5, 6}));
  CHECK(evaluate(bias_add(planes, Tensor::vector<float>({10, 20}), {.data_format = "NCHW"})) ==
        Tensor::from<float>({1, 2, 3}, {11, 12, 13, 24, 25, 26}));
}

TEST_CASE("a bias's gradient is the sum over its channel in both layouts") {
  for (const char* format : {"NHWC", "NCHW"})
    for (const Shape& shape : {Shape{3, 4}, Shape{2, 4, 17}, Shape{2, 4, 3, 4}}) {
      CAPTURE(format);
      CAPTURE(shape);
      const std::int64_t channels = std::string(format) == "NCHW" ? shape[1] : shape[shape.rank() - 1];
      const auto add = [&](const Outputs& in) { return bias_add(in[0], in[1], {.data_format = format}); };
      CHECK(gradient_gap(add, {random(shape), random({channels}, 2)}) < 1e-6);
    }
}

TEST_CASE("a bias's gradient has the gradient that finite differences give, of known shapes and of unknown") {
  for (const char* format : {"NHWC", "NCHW"})
    for (const Shape& shape : {Shape{3, 4}, Shape{2, 4, 3}, Shape{2, 4, 3, 2}, Shape{0, 4}}) {
      CAPTURE(format);
      CAPTURE(shape);
      const auto sums = [&](const Outputs& in) { return bias_add_grad(in[0], {.data_format = format}); };
      CHECK(gradient_gap(sums, {random(shape)}) < 1e-6);
      const auto unknown = [&](const Outputs& in) {
        return sums({placeholder_with_default(in[0], Shape::unknown())});
      };
      CHECK(gradient_gap(unknown, {random(shape)}) < 1e-6);
    }
}

TEST_CASE("biases without rows give no rows and a gradient of zeros") {
  Graph g;
  const Output x = constant(g, Tensor::zeros(DType::kFloat, {0, 3}));
  CHECK(evaluate(bias_add(x, Tensor::vector<float>({1, 2, 3}))) == Tensor::zeros(DType::kFloat, {0, 3}));
  CHECK(evaluate(bias_add_grad(x)) == Tensor::zeros(DType::kFloat, {3}));
}

TEST_CASE("a bias for another number of channels is refused in full text") {
  Graph g;
  const Output x = placeholder<float>(g, {kUnknown, 3}, "x");
  CHECK_THROWS_WITH_AS(bias_add(x, Tensor::vector<float>({1, 2})),
                       "BiasAdd 'BiasAdd': channels differ: value is float[?,3] (x:0), bias is float[2] "
                       "(BiasAdd/bias:0)",
                       InvalidArgument);
}

TEST_CASE("relu keeps what is over zero, and NaN") {
  Graph g;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor out = evaluate(relu(constant(g, Tensor::vector<float>({-1, 0, 2.5f, nan}))));
  CHECK(out.values<float>()[0] == 0);
  CHECK(out.values<float>()[2] == 2.5f);
  CHECK(std::isnan(out.values<float>()[3]));
  CHECK(evaluate(relu(constant(g, Tensor::vector<std::int32_t>({-7, 7})))) ==
        Tensor::vector<std::int32_t>({0, 7}));
  CHECK(evaluate(relu(constant(g, Tensor::zeros(DType::kFloat, {0, 2})))).shape() == Shape{0, 2});
}

TEST_CASE("relu has the gradient that finite differences give, twice over") {
  const auto f = [](const Outputs& in) { return relu(in[0]); };
  CHECK(gradient_gap(f, {random({5, 7})}) < 1e-6);
  const auto of_gradient = [](const Outputs& in) { return relu_grad(in[0], in[1]); };
  CHECK(gradient_gap(of_gradient, {random({5, 7}), random({5, 7}, 2)}) < 1e-6);
}

TEST_CASE("softmax of rows is what a schoolbook loop gives, for all widths about a vector's") {
  for (const std::int64_t columns : {1, 2, 7, 8, 9, 31, 64, 65, 200}) {
    CAPTURE(columns);
    Graph g;
    const Tensor x = random({3, columns});
    const std::vector<double> want = softmax_loop(x, columns);
    CHECK(gap(evaluate(softmax(constant(g, as_float(x)))), want) < 1e-6);
    std::vector<double> logs;
    for (const double p : want) logs.push_back(std::log(p));
    CHECK(gap(evaluate(log_softmax(constant(g, as_float(x)))), logs) < 2e-6);
  }
}

TEST_CASE("softmax stays finite where exp would not, and gives rows of no width") {
  Graph g;
  const Tensor out = evaluate(softmax(constant(g, Tensor::vector<float>({1000, 0, -1000}))));
  CHECK(out == Tensor::vector<float>({1, 0, 0}));
  const Tensor logs = evaluate(log_softmax(constant(g, Tensor::vector<float>({1000, 0}))));
  CHECK(logs == Tensor::vector<float>({0, -1000}));
  CHECK(evaluate(softmax(constant(g, Tensor::zeros(DType::kFloat, {2, 0})))).shape() == Shape{2, 0});
  CHECK_THROWS_WITH_AS(softmax(constant(g, Tensor::scalar(1.0f), {.name = "x"})),
                       "Softmax 'Softmax': logits must have a dimension: logits is float[] (x:0)",
                       InvalidArgument);
}

TEST_CASE("softmax and its logarithm have the gradients that finite differences give") {
  CHECK(gradient_gap([](const Outputs& in) { return softmax(in[0]); }, {random({3, 4})}) < 1e-6);
  CHECK(gradient_gap([](const Outputs& in) { return log_softmax(in[0]); }, {random({2, 3, 4})}) < 1e-6);
}
