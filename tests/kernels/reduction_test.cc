// Reductions: bits against TensorFlow's (golden/sums), every pattern of axes against a schoolbook loop,
// derivatives.
#include "ops/reduction_ops.h"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <limits>

#include "graph/error.h"
#include "graph/runtime/session.h"
#include "ops/array_ops.h"
#include "ops/gradient_check.h"
#include "ops/math_ops.h"
#include "tests/kernels/larger_gap.h"
#include "tests/summary/golden_json.h"

using namespace runnel;

namespace {

// The inputs of golden/sums: make_sums.py states the formula.
Tensor made(std::int64_t c, const Shape& shape) {
  Tensor out(DType::kFloat, shape);
  for (std::int64_t i = 0; i < out.elements(); ++i)
    out.mutable_values<float>()[static_cast<std::size_t>(i)] =
        static_cast<float>(static_cast<double>((i * 7919 + c * 104729) % 10007 - 5003) / 997.0);
  return out;
}

Shape shape_of(const Json& list) {
  Shape shape;
  for (const double dim : numbers(list)) shape.push_back(static_cast<std::int64_t>(dim));
  return shape;
}

Tensor floats(const Json& list) {
  std::vector<float> out;
  for (const double v : numbers(list)) out.push_back(static_cast<float>(v));
  return Tensor::vector(out);
}

using Reduce = Output (*)(Operand, Axes, ReduceOptions);

// Reduces x along the flagged dimensions, in the order of the elements.
Tensor schoolbook(const Tensor& x, const std::vector<bool>& reduced, double first,
                  double (*f)(double, double)) {
  Shape shape;
  for (int d = 0; d < x.shape().rank(); ++d)
    if (!reduced[static_cast<std::size_t>(d)]) shape.push_back(x.shape()[d]);
  Tensor out(DType::kDouble, shape);
  for (double& v : out.mutable_values<double>()) v = first;
  for (std::int64_t i = 0; i < x.elements(); ++i) {
    std::int64_t left = i, place = 0, stride = 1;
    for (int d = x.shape().rank() - 1; d >= 0; left /= x.shape()[d], --d) {
      if (reduced[static_cast<std::size_t>(d)]) continue;
      place += left % x.shape()[d] * stride;
      stride *= x.shape()[d];
    }
    double& v = out.mutable_values<double>()[static_cast<std::size_t>(place)];
    v = f(v, x.values<double>()[static_cast<std::size_t>(i)]);
  }
  return out;
}

double gap(const Tensor& a, const Tensor& b) {
  REQUIRE(a.shape() == b.shape());
  double worst = 0;
  for (std::size_t i = 0; i < a.values<double>().size(); ++i)
    worst = larger_gap(worst, std::abs(a.values<double>()[i] - b.values<double>()[i]));
  return worst;
}

double plus(double a, double b) { return a + b; }
double times(double a, double b) { return a * b; }
double larger(double a, double b) { return std::max(a, b); }

}  // namespace

TEST_CASE("sums and means of vectors have TensorFlow's bits") {
  const Json golden = golden_json("sums/sums.json");
  for (const Json& e : field(golden, "total").list_value().values()) {
    CAPTURE(number(field(e, "n")));
    Graph g;
    const Output x = constant(g, made(1, {static_cast<std::int64_t>(number(field(e, "n")))}));
    CHECK(evaluate(reduce_sum(x)).scalar<float>() == static_cast<float>(number(field(e, "sum"))));
    CHECK(evaluate(reduce_mean(x)).scalar<float>() == static_cast<float>(number(field(e, "mean"))));
  }
}

TEST_CASE("sums of columns and of rows have TensorFlow's bits") {
  const Json golden = golden_json("sums/sums.json");
  for (const char* kind : {"columns", "rows"})
    for (const Json& e : field(golden, kind).list_value().values()) {
      const Shape shape = shape_of(field(e, "shape"));
      CAPTURE(kind);
      CAPTURE(shape.text());
      Graph g;
      const Output x = constant(g, made(static_cast<std::int64_t>(number(field(e, "c"))), shape));
      CHECK(evaluate(reduce_sum(x, Axes(kind[0] == 'c' ? 0 : 1))) == floats(field(e, "sum")));
    }
}

TEST_CASE("every choice of axes of four reduces as the schoolbook loop does") {
  const Tensor x = random({3, 2, 5, 4});
  Graph g;
  const Output in = constant(g, x);
  for (int choice = 0; choice < 16; ++choice) {
    CAPTURE(choice);
    std::vector<bool> reduced;
    std::vector<std::int32_t> axes;
    for (int d = 0; d < 4; ++d) {
      reduced.push_back(choice >> d & 1);
      if (reduced.back()) axes.push_back(d % 2 ? d - 4 : d);
    }
    CHECK(gap(evaluate(reduce_sum(in, Axes(axes))), schoolbook(x, reduced, 0, plus)) < 1e-12);
    CHECK(gap(evaluate(reduce_prod(in, Axes(axes))), schoolbook(x, reduced, 1, times)) < 1e-12);
    CHECK(gap(evaluate(reduce_max(in, Axes(axes))), schoolbook(x, reduced, -9, larger)) == 0);
  }
}

TEST_CASE("a long sum is the same for every number of threads") {
  const Tensor x = made(3, {300'001}), wide = made(4, {40, 9'001});
  std::vector<Tensor> seen;
  for (const int threads : {1, 2, 5}) {
    Graph g;
    const Output p = placeholder<float>(g, {kUnknown}, "p"),
                 q = placeholder<float>(g, {kUnknown, kUnknown}, "q");
    Session session(g, {.intra_op_parallelism_threads = threads});
    seen.push_back(session.run(reduce_sum(p), {{p, x}}));
    seen.push_back(session.run(reduce_sum(q, Axes(0)), {{q, wide}}));
  }
  for (std::size_t i = 2; i < seen.size(); ++i) CHECK(seen[i] == seen[i % 2]);
}

TEST_CASE("a sum of more than 4096 doubles is cut at half, as TensorFlow cuts it") {
  const Tensor x = random({5'000});
  const auto sum = [&](std::size_t from, std::size_t n) {
    Graph g;
    const auto part = x.values<double>().subspan(from, n);
    return evaluate(reduce_sum(constant(g, Tensor::from<double>({static_cast<std::int64_t>(n)}, part))))
        .scalar<double>();
  };
  CHECK(sum(0, 5'000) == sum(0, 2'500) + sum(2'500, 2'500));
  CHECK(sum(0, 4'096) !=
        sum(0, 2'048) + sum(2'048, 2'048));  // not cut: these numbers tell the two orders apart
}

TEST_CASE("nothing reduces to what TensorFlow makes of it") {
  Graph g;
  const Output f = constant(g, Tensor(DType::kFloat, {0, 2})), i = constant(g, Tensor(DType::kInt32, {0, 2}));
  const float inf = std::numeric_limits<float>::infinity();
  CHECK(evaluate(reduce_sum(f, Axes(0))) == Tensor::vector<float>({0, 0}));
  CHECK(std::isnan(evaluate(reduce_mean(f)).scalar<float>()));
  CHECK(evaluate(reduce_max(f, Axes(0))) == Tensor::vector<float>({-inf, -inf}));
  CHECK(evaluate(reduce_min(f, Axes(0))) == Tensor::vector<float>({inf, inf}));
  CHECK(evaluate(reduce_prod(f, Axes(0))) == Tensor::vector<float>({1, 1}));
  CHECK(evaluate(reduce_max(i)).scalar<std::int32_t>() == std::numeric_limits<std::int32_t>::min());
  CHECK(evaluate(reduce_sum(f, Axes(1))).elements() == 0);
}

TEST_CASE("means of integers are cut and do not wrap around on the way") {
  Graph g;
  CHECK(evaluate(reduce_mean(constant(g, Tensor::vector<std::int8_t>({100, 100, 101}))))
            .scalar<std::int8_t>() == 100);
  CHECK(
      evaluate(reduce_mean(constant(g, Tensor::vector<std::int32_t>({-1, -2, -4})))).scalar<std::int32_t>() ==
      -2);
  CHECK(
      evaluate(reduce_sum(constant(g, Tensor::vector<std::int8_t>({100, 100, 100})))).scalar<std::int8_t>() ==
      44);
}

TEST_CASE("NaN wins in extremes, wherever it stands") {
  for (const std::size_t place : {0u, 3u, 17u, 39u}) {
    Tensor x = made(1, {40});
    x.mutable_values<float>()[place] = std::numeric_limits<float>::quiet_NaN();
    Graph g;
    CHECK(std::isnan(evaluate(reduce_max(constant(g, x))).scalar<float>()));
    CHECK(std::isnan(evaluate(reduce_min(constant(g, x))).scalar<float>()));
  }
}

TEST_CASE("derivatives of reductions are those of finite differences, with and without kept dimensions") {
  for (const Reduce op : {Reduce(reduce_sum), Reduce(reduce_mean), Reduce(reduce_max), Reduce(reduce_min)})
    for (const bool keep : {false, true})
      for (const Axes& axes : {Axes(0), Axes{1}, Axes{0, -1}, Axes{}}) {
        const auto f = [&](const Outputs& in) { return op(in[0], axes, {.keep_dims = keep}); };
        CHECK(gradient_gap(f, {random({3, 4})}) < 1e-6);
      }
}

TEST_CASE("derivatives of reductions work where the shape is known only when the step runs") {
  for (const Shape& known : {Shape::unknown(), Shape{kUnknown, 4}}) {
    CAPTURE(known.text());
    const auto input = [&](const Outputs& in) { return placeholder_with_default(in[0], known); };
    CHECK(gradient_gap([&](const Outputs& in) { return reduce_sum(input(in), Axes(0)); }, {random({3, 4})}) <
          1e-6);
    CHECK(gradient_gap([&](const Outputs& in) { return reduce_mean(input(in), Axes{-1}); },
                       {random({3, 4})}) < 1e-6);
    CHECK(gradient_gap([&](const Outputs& in) { return reduce_mean(square(input(in))); }, {random({3, 4})}) <
          1e-6);
    CHECK(gradient_gap([&](const Outputs& in) { return reduce_max(input(in), Axes{1}); }, {random({3, 4})}) <
          1e-6);
  }
}

TEST_CASE("a product's derivative is that of finite differences, also where factors are 0") {
  Tensor x = random({2, 3, 2});
  for (const std::size_t i : {0u, 5u, 6u}) x.mutable_values<double>()[i] = 0;  // one, or two, of a product
  for (const bool keep : {false, true})
    for (const Axes& axes : {Axes{0}, Axes(-1), Axes{2, 0}, Axes{0, 1, 2}, Axes{}})
      for (const Shape& known : {Shape{2, 3, 2}, Shape{kUnknown, 3, 2}, Shape::unknown()}) {
        CAPTURE(keep);
        CAPTURE(axes.tensor().text());
        CAPTURE(known);
        const auto f = [&](const Outputs& in) {
          const Output y = placeholder_with_default(in[0], known);
          return reduce_prod(known.is_known() ? in[0] : y, axes, {.keep_dims = keep});
        };
        CHECK(gradient_gap(f, {x}) < 1e-6);
      }
}

TEST_CASE("the derivative of a product over no elements has none") {
  const auto f = [](const Outputs& in) { return reduce_prod(in[0], Axes(0)); };
  CHECK(gradient_gap(f, {random({0, 3})}) == 0);
  CHECK(gradient_gap(f, {random({3, 0})}) == 0);
  CHECK(gradient_gap([](const Outputs& in) { return reduce_prod(in[0]); }, {random({})}) < 1e-6);
}

TEST_CASE("all and any of bools go along axes, and of nothing all are true and none is") {
  Graph g;
  const Output x = constant(g, Tensor::from<bool>({2, 2}, std::array<bool, 4>{true, false, true, true}));
  CHECK(evaluate(reduce_all(x, 1)) == Tensor::from<bool>({2}, std::array<bool, 2>{false, true}));
  CHECK(evaluate(reduce_any(x, 0, {.keep_dims = true})).shape() == Shape{1, 2});
  CHECK(evaluate(reduce_all(x)).scalar<bool>() == false);
  CHECK(evaluate(reduce_any(x)).scalar<bool>() == true);
  const Output none = constant(g, Tensor(DType::kBool, Shape{0}));
  CHECK(evaluate(reduce_all(none)).scalar<bool>() == true);
  CHECK(evaluate(reduce_any(none)).scalar<bool>() == false);
}

TEST_CASE("all of numbers is refused") {
  Graph g;
  CHECK_THROWS_WITH_AS(reduce_all(constant(g, Tensor::scalar(1.0f), {.name = "x"}), Axes{}),
                       "All 'All': input 0 must be bool, but x:0 is float[]", InvalidArgument);
}
