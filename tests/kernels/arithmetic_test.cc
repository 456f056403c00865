// Arithmetic on two tensors: by hand, against a schoolbook loop over every kind of broadcasting, and by
// derivatives.
#include "ops/arithmetic_ops.h"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "graph/error.h"
#include "ops/array_ops.h"
#include "ops/gradient_check.h"
#include "ops/math_ops.h"

using namespace runnel;

namespace {

const float kNan = std::numeric_limits<float>::quiet_NaN(), kInf = std::numeric_limits<float>::infinity();

template <class T>
Tensor run2(Output (*op)(Operand, Operand, OpOptions), std::initializer_list<T> x,
            std::initializer_list<T> y) {
  Graph g;
  return evaluate(op(constant(g, Tensor::vector<T>(x)), constant(g, Tensor::vector<T>(y)), {}));
}

// Element by element, by the rule of NumPy.
Tensor schoolbook(const Tensor& x, const Tensor& y, const std::function<double(double, double)>& f) {
  const Shape shape = broadcast(x.shape(), y.shape());
  Tensor out(DType::kDouble, shape);
  const auto at = [&](const Tensor& t, std::int64_t i) {
    std::int64_t place = 0, stride = 1;
    for (int d = 1; d <= shape.rank(); ++d) {
      const std::int64_t dim = shape[shape.rank() - d], k = i % dim;
      i /= dim;
      if (d > t.shape().rank()) continue;
      if (t.shape()[t.shape().rank() - d] != 1) place += k * stride;
      stride *= t.shape()[t.shape().rank() - d];
    }
    return t.values<double>()[static_cast<std::size_t>(place)];
  };
  for (std::int64_t i = 0; i < out.elements(); ++i)
    out.mutable_values<double>()[static_cast<std::size_t>(i)] = f(at(x, i), at(y, i));
  return out;
}

struct ShapePair {
  Shape x, y;
};
const std::vector<ShapePair> kPairs{{{}, {}},      {{5}, {5}},          {{5}, {}},
                                    {{}, {2, 3}},  {{4, 3}, {3}},       {{4, 1}, {4, 3}},
                                    {{4, 1}, {3}}, {{2, 1, 3}, {5, 1}}, {{2, 3, 1, 5}, {1, 3, 4, 1}},
                                    {{0, 3}, {3}}, {{2, 0}, {1}}};

using Op = Output (*)(Operand, Operand, OpOptions);

}  // namespace

TEST_CASE("arithmetic is right on small vectors worked by hand") {
  CHECK(run2<float>(add, {1, 2}, {10, 20}) == Tensor::vector<float>({11, 22}));
  CHECK(run2<float>(subtract, {1, 2}, {10, 20}) == Tensor::vector<float>({-9, -18}));
  CHECK(run2<float>(multiply, {1, 2}, {10, 20}) == Tensor::vector<float>({10, 40}));
  CHECK(run2<float>(realdiv, {1, 2}, {4, 5}) == Tensor::vector<float>({0.25f, 0.4f}));
  CHECK(run2<float>(squared_difference, {1, 2}, {4, 4}) == Tensor::vector<float>({9, 4}));
  CHECK(run2<std::int32_t>(divide, {7}, {2}) == Tensor::vector<double>({3.5}));
}

TEST_CASE("every pair of shapes broadcasts as the schoolbook loop does") {
  for (const ShapePair& s : kPairs) {
    CAPTURE(s.x.text());
    CAPTURE(s.y.text());
    const Tensor x = random(s.x, 1), y = random(s.y, 2);
    Graph g;
    const Output a = constant(g, x), b = constant(g, y);
    CHECK(evaluate(a - b) == schoolbook(x, y, [](double p, double q) { return p - q; }));
    CHECK(evaluate(maximum(a, b)) == schoolbook(x, y, [](double p, double q) { return std::max(p, q); }));
  }
}

TEST_CASE("integers wrap around instead of overflowing") {
  const std::int32_t low = std::numeric_limits<std::int32_t>::min(),
                     high = std::numeric_limits<std::int32_t>::max();
  CHECK(run2<std::int32_t>(add, {high}, {1}) == Tensor::vector<std::int32_t>({low}));
  CHECK(run2<std::int8_t>(multiply, {100}, {3}) == Tensor::vector<std::int8_t>({44}));
  CHECK(run2<std::uint16_t>(multiply, {65535}, {65535}) == Tensor::vector<std::uint16_t>({1}));
  CHECK(run2<std::int32_t>(floordiv, {low}, {-1}) == Tensor::vector<std::int32_t>({low}));
}

TEST_CASE("floor division rounds down and its remainder has the divisor's sign") {
  CHECK(run2<std::int32_t>(floordiv, {7, -7, 7, -7}, {3, 3, -3, -3}) ==
        Tensor::vector<std::int32_t>({2, -3, -3, 2}));
  CHECK(run2<std::int32_t>(floormod, {7, -7, 7, -7}, {3, 3, -3, -3}) ==
        Tensor::vector<std::int32_t>({1, 2, -2, -1}));
  CHECK(run2<float>(floordiv, {7, -7, 5}, {3, 3, kInf}) == Tensor::vector<float>({2, -3, 0}));
  CHECK(run2<float>(floormod, {7, -7, -1, 6.5f}, {3, 3, kInf, -kInf}) ==
        Tensor::vector<float>({1, 2, kInf, -kInf}));
}

TEST_CASE("an integer division by zero is refused, but only if something is divided") {
  Graph g;
  const Output zero = constant(g, Tensor::vector<std::int32_t>({0}));
  const Output bad = floordiv(constant(g, Tensor::vector<std::int32_t>({1, 2})), zero, {.name = "halves"});
  CHECK_THROWS_WITH_AS(evaluate(bad), "FloorDiv 'halves': Integer division by zero", InvalidArgument);
  const Output none = constant(g, Tensor(DType::kInt32, {0}));
  CHECK(evaluate(floordiv(none, zero)).elements() == 0);
}

TEST_CASE("NaN wins in maximum and minimum, from either side") {
  const Tensor high = run2<float>(maximum, {kNan, 1, 2}, {1, kNan, 3});
  const Tensor low = run2<float>(minimum, {kNan, 1, 2}, {1, kNan, 3});
  CHECK(std::isnan(high.values<float>()[0]));
  CHECK(std::isnan(high.values<float>()[1]));
  CHECK(high.values<float>()[2] == 3);
  CHECK(std::isnan(low.values<float>()[0]));
  CHECK(std::isnan(low.values<float>()[1]));
  CHECK(low.values<float>()[2] == 2);
}

TEST_CASE("Add joins strings, also with one string for all") {
  Graph g;
  const Output names = constant(g, Tensor::vector<std::string>({"a", "b"}));
  const Output end = constant(g, Tensor::scalar(std::string("_1")));
  CHECK(evaluate(g.add("Add", {names, end})) == Tensor::vector<std::string>({"a_1", "b_1"}));
}

TEST_CASE("derivatives of arithmetic are those of finite differences, for every pair of shapes") {
  for (const Op op :
       {Op(add), Op(subtract), Op(multiply), Op(divide), Op(squared_difference), Op(maximum), Op(minimum)})
    for (const ShapePair& s : kPairs) {
      CAPTURE(s.x.text());
      CAPTURE(s.y.text());
      Tensor y = random(s.y, 2);
      for (double& v : y.mutable_values<double>()) v += v < 0 ? -1 : 1;  // away from zero: it divides
      const auto f = [op](const Outputs& in) { return op(in[0], in[1], {}); };
      CHECK(gradient_gap(f, {random(s.x, 1), y}) < 1e-6);
    }
}

TEST_CASE("a derivative works where shapes are known only when the step runs") {
  const auto f = [](const Outputs& in) {
    const Output x = placeholder_with_default(in[0], Shape::unknown());
    const Output y = placeholder_with_default(in[1], {kUnknown});
    return multiply(x, y) + y;
  };
  CHECK(gradient_gap(f, {random({2, 3}, 1), random({3}, 2)}) < 1e-6);
  CHECK(gradient_gap(f, {random({}, 1), random({3}, 2)}) < 1e-6);
}

TEST_CASE("shapes that do not broadcast are refused with both inputs") {
  Graph g;
  const Output x = placeholder<float>(g, {2, 3}, "x"), y = placeholder<float>(g, {2}, "y");
  CHECK_THROWS_WITH_AS(x + y,
                       "AddV2 'add': shapes do not broadcast: x is float[2,3] (x:0), y is float[2] (y:0)",
                       InvalidArgument);
}

TEST_CASE("div_no_nan is 0 where it divides by 0, and so is its gradient") {
  CHECK(run2<float>(div_no_nan, {6, -1, 0, kNan, 1}, {3, 0, 0, 0, kInf}) ==
        Tensor::vector<float>({2, 0, 0, 0, 0}));
  Graph g;
  CHECK(evaluate(div_no_nan(constant(g, Tensor(DType::kFloat, {0, 2})), 2.0f)).shape() == Shape{0, 2});
  const Tensor x = random({2, 3}), y = Tensor::vector<double>({0.5, 2, -1});
  const auto f = [](const Outputs& in) { return div_no_nan(in[0], in[1]); };
  CHECK(gradient_gap(f, {x, y}) < 1e-6);
  CHECK(gradient_gap(
            [&](const Outputs& in) {
              return f({in[0], constant(in[0].graph(), Tensor::scalar(0.0))});
            },
            {x}) == 0);
}
