// Running sums and products: by hand, against a schoolbook loop, and their derivatives.
#include "ops/scan_ops.h"

#include <doctest/doctest.h>

#include "graph/error.h"
#include "graph/runtime/session.h"
#include "ops/array_ops.h"
#include "ops/gradient_check.h"
#include "ops/gradients.h"
#include "ops/math_ops.h"

using namespace runnel;

namespace {

using Scan = Output (*)(Operand, int, ScanOptions);

// Along the middle one of three dimensions.
Tensor schoolbook(const Tensor& x, bool product, bool exclusive, bool reverse) {
  const std::int64_t outer = x.shape()[0], n = x.shape()[1], inner = x.shape()[2];
  Tensor out(DType::kDouble, x.shape());
  for (std::int64_t o = 0; o < outer; ++o)
    for (std::int64_t i = 0; i < inner; ++i) {
      double so_far = product ? 1 : 0;
      for (std::int64_t step = 0; step < n; ++step) {
        const std::int64_t k = reverse ? n - 1 - step : step;
        const auto at = static_cast<std::size_t>((o * n + k) * inner + i);
        const double v = x.values<double>()[at], next = product ? so_far * v : so_far + v;
        out.mutable_values<double>()[at] = exclusive ? so_far : next;
        so_far = next;
      }
    }
  return out;
}

}  // namespace

TEST_CASE("each element has those before it added or multiplied, worked by hand") {
  Graph g;
  const Output x = constant(g, Tensor::vector<float>({2, 3, 4}));
  CHECK(evaluate(cumsum(x)) == Tensor::vector<float>({2, 5, 9}));
  CHECK(evaluate(cumsum(x, 0, {.exclusive = true})) == Tensor::vector<float>({0, 2, 5}));
  CHECK(evaluate(cumsum(x, -1, {.reverse = true})) == Tensor::vector<float>({9, 7, 4}));
  CHECK(evaluate(cumprod(x)) == Tensor::vector<float>({2, 6, 24}));
  CHECK(evaluate(cumprod(x, 0, {.exclusive = true, .reverse = true})) == Tensor::vector<float>({12, 4, 1}));
  const Output bytes = constant(g, Tensor::vector<std::int8_t>({100, 100}));
  CHECK(evaluate(cumsum(bytes)) == Tensor::vector<std::int8_t>({100, -56}));
}

TEST_CASE("scans of every direction are what a schoolbook loop gives, to the bit") {
  for (const Shape& shape : {Shape{3, 7, 1}, Shape{2, 5, 9}, Shape{1, 40'000, 2}, Shape{40'000, 2, 1}})
    for (const bool exclusive : {false, true})
      for (const bool reverse : {false, true}) {
        CAPTURE(shape);
        CAPTURE(exclusive);
        CAPTURE(reverse);
        Graph g;
        Tensor x = random(shape);
        for (double& v : x.mutable_values<double>()) v = 1 + v / 1000;  // long products stay in range
        const Output in = constant(g, x);
        const ScanOptions how{.exclusive = exclusive, .reverse = reverse};
        CHECK(evaluate(cumsum(in, 1, how)) == schoolbook(x, false, exclusive, reverse));
        CHECK(evaluate(cumprod(in, -2, how)) == schoolbook(x, true, exclusive, reverse));
      }
}

TEST_CASE("scans have the derivatives that finite differences give, twice over for sums") {
  for (const bool exclusive : {false, true})
    for (const bool reverse : {false, true}) {
      CAPTURE(exclusive);
      CAPTURE(reverse);
      for (const Scan scan : {Scan(cumsum), Scan(cumprod)}) {
        const auto f = [&](const Outputs& in) {
          return scan(in[0], 1, {.exclusive = exclusive, .reverse = reverse});
        };
        CHECK(gradient_gap(f, {random({2, 4, 3})}) < 1e-6);
      }
      const auto of_gradient = [&](const Outputs& in) {
        const Output sums = cumsum(in[0], 1, {.exclusive = exclusive, .reverse = reverse});
        return gradients({square(sums)}, {in[0]})[0].dense();
      };
      CHECK(gradient_gap(of_gradient, {random({2, 4, 3})}) < 1e-6);
    }
}

TEST_CASE("scans take an axis that the graph computes, and tensors without elements") {
  Graph g;
  const Output axis = placeholder<std::int64_t>(g, {}, "axis");
  const Output x = constant(g, Tensor::matrix<float>({{1, 2}, {3, 4}}));
  Session session(g);
  const Output sums = cumsum(x, axis);
  CHECK(session.run(sums, {{axis, Tensor::scalar<std::int64_t>(0)}}) ==
        Tensor::matrix<float>({{1, 2}, {4, 6}}));
  CHECK(session.run(sums, {{axis, Tensor::scalar<std::int64_t>(1)}}) ==
        Tensor::matrix<float>({{1, 3}, {3, 7}}));
  for (const Shape& empty : {Shape{0, 3}, Shape{3, 0}, Shape{0}})
    CHECK(evaluate(cumprod(constant(g, Tensor::zeros(DType::kFloat, empty)))).shape() == empty);
}

TEST_CASE("a scan along a dimension that is not there is refused in full text") {
  Graph g;
  const Output x = placeholder<float>(g, {2, 3}, "x");
  CHECK_THROWS_WITH_AS(cumsum(x, 2),
                       "Cumsum 'Cumsum': axis 2 is not in [-2, 2): x is float[2,3] (x:0), axis is int32[] "
                       "(Cumsum/axis:0)",
                       InvalidArgument);
  CHECK_THROWS_AS(cumprod(constant(g, Tensor::scalar(1.0f))), InvalidArgument);
}

TEST_CASE("scans go out as GraphDef and come in again") {
  Graph g;
  cumprod(constant(g, Tensor::vector<float>({2, 3})), 0, {.exclusive = true, .name = "p"});
  Graph again;
  again.import_graph_def(g.to_graph_def());
  CHECK(evaluate(again.output("p:0")) == Tensor::vector<float>({1, 2}));
  CHECK(again.output("p:0").node().flag("exclusive"));
}
