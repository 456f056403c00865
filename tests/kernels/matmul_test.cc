// MatMul: by hand, against a schoolbook loop, against TensorFlow's (golden/sums), by derivatives.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "graph/error.h"
#include "graph/runtime/session.h"
#include "ops/array_ops.h"
#include "ops/gradient_check.h"
#include "ops/math_ops.h"
#include "tests/kernels/larger_gap.h"
#include "tests/summary/golden_json.h"

using namespace runnel;

namespace {

// a[m, k] b[k, n] in double; flags as MatMul's.
double element(const Tensor& a, bool ta, const Tensor& b, bool tb, std::int64_t i, std::int64_t j) {
  const std::int64_t k = a.shape()[ta ? 0 : 1];
  double sum = 0;
  for (std::int64_t p = 0; p < k; ++p)
    sum += a.values<double>()[static_cast<std::size_t>(ta ? p * a.shape()[1] + i : i * k + p)] *
           b.values<double>()[static_cast<std::size_t>(tb ? j * k + p : p * b.shape()[1] + j)];
  return sum;
}

double worst_gap(const Tensor& a, bool ta, const Tensor& b, bool tb) {
  Graph g;
  const Tensor c = evaluate(matmul(constant(g, a), constant(g, b), {.transpose_a = ta, .transpose_b = tb}));
  double worst = 0;
  for (std::int64_t i = 0; i < c.shape()[0]; ++i)
    for (std::int64_t j = 0; j < c.shape()[1]; ++j) {
      const double got = c.values<double>()[static_cast<std::size_t>(i * c.shape()[1] + j)];
      worst = larger_gap(worst, std::abs(got - element(a, ta, b, tb, i, j)));
    }
  return worst;
}

Tensor made(std::int64_t c, const Shape& shape) {
  Tensor out(DType::kFloat, shape);
  for (std::int64_t i = 0; i < out.elements(); ++i)
    out.mutable_values<float>()[static_cast<std::size_t>(i)] =
        static_cast<float>(static_cast<double>((i * 7919 + c * 104729) % 10007 - 5003) / 997.0);
  return out;
}

template <class To, class From>
Tensor as(const Tensor& tensor) {
  Tensor out(dtype_of<To>(), tensor.shape());
  std::ranges::transform(tensor.values<From>(), out.mutable_values<To>().begin(),
                         [](From value) { return static_cast<To>(value); });
  return out;
}

// Of a product of floats to that of the same numbers in double.
double float_gap(const Tensor& a, bool ta, const Tensor& b, bool tb) {
  Graph g;
  const MatMulOptions options{.transpose_a = ta, .transpose_b = tb};
  const Tensor fa = as<float, double>(a), fb = as<float, double>(b);
  const Tensor got = evaluate(matmul(constant(g, fa), constant(g, fb), options));
  const Tensor exact =
      evaluate(matmul(constant(g, as<double, float>(fa)), constant(g, as<double, float>(fb)), options));
  double worst = 0;
  for (std::size_t i = 0; i < exact.values<double>().size(); ++i)
    worst = larger_gap(worst, std::abs(exact.values<double>()[i] - got.values<float>()[i]));
  return worst;
}

using Sizes = std::vector<std::array<std::int64_t, 3>>;  // of m, k, n

// Calls `check` with random factors of every size and pair of flags.
template <class Check>
void for_factors(const Sizes& sizes, Check check) {
  for (const auto& size : sizes)
    for (const bool ta : {false, true})
      for (const bool tb : {false, true}) {
        const std::int64_t m = size[0], k = size[1], n = size[2];
        CAPTURE(m);
        CAPTURE(k);
        CAPTURE(n);
        CAPTURE(ta);
        CAPTURE(tb);
        check(random(ta ? Shape{k, m} : Shape{m, k}), ta, random(tb ? Shape{n, k} : Shape{k, n}, 2), tb);
      }
}

}  // namespace

TEST_CASE("multiplies a 2x2 by a 2x1, worked by hand") {
  Graph g;
  const Output a = constant(g, Tensor::matrix<float>({{1, 2}, {3, 4}}));
  const Output b = constant(g, Tensor::matrix<float>({{5}, {6}}));
  CHECK(evaluate(matmul(a, b)) == Tensor::matrix<float>({{17}, {39}}));
}

TEST_CASE("products of all sizes and flags are those of the schoolbook loop") {
  const Sizes sizes{{1, 1, 1},   {2, 3, 4},   {5, 7, 31},    {16, 16, 16},
                    {1, 40, 33}, {33, 40, 1}, {130, 20, 70}, {300, 9, 17}};
  for_factors(sizes, [](const Tensor& a, bool ta, const Tensor& b, bool tb) {
    CHECK(worst_gap(a, ta, b, tb) < 1e-12);
  });
}

TEST_CASE("products of floats are those of doubles, also where they are cut into tiles or turned") {
  const Sizes sizes{{9, 5, 7},   {16, 3, 16},   {8, 6, 13},     {40, 63, 65},   {64, 64, 64},
                    {7, 16, 16}, {33, 600, 90}, {130, 700, 70}, {200, 130, 77}, {20, 1500, 67}};
  for_factors(sizes, [](const Tensor& a, bool ta, const Tensor& b, bool tb) {
    CHECK(float_gap(a, ta, b, tb) < 1e-6 * static_cast<double>(a.shape()[ta ? 0 : 1]));
  });
}

TEST_CASE("products of floats are TensorFlow's to the last few bits") {
  const Json golden = golden_json("sums/sums.json");
  for (const Json& e : field(golden, "matmul").list_value().values()) {
    const auto size = [&](const char* name) { return static_cast<std::int64_t>(number(field(e, name))); };
    Graph g;
    const Tensor c = evaluate(
        matmul(constant(g, made(4, {size("m"), size("k")})), constant(g, made(5, {size("k"), size("n")}))));
    const std::vector<double> wanted = numbers(field(e, "product"));
    for (std::size_t i = 0; i < wanted.size(); ++i)
      CHECK(std::abs(c.values<float>()[i] - wanted[i]) <= 1e-5 * std::abs(wanted[i]) + 1e-3);
  }
}

TEST_CASE("no inner elements give zeros, no rows give none") {
  Graph g;
  const Output a = constant(g, Tensor(DType::kFloat, {2, 0})), b = constant(g, Tensor(DType::kFloat, {0, 3}));
  CHECK(evaluate(matmul(a, b)) == Tensor::zeros(DType::kFloat, {2, 3}));
  CHECK(evaluate(matmul(b, constant(g, Tensor::zeros(DType::kFloat, {3, 2})))).shape() == Shape{0, 2});
}

TEST_CASE("integers are multiplied, too, and wrap around") {
  Graph g;
  const Output a = constant(g, Tensor::matrix<std::int32_t>({{1, 2}, {1 << 30, 3}}));
  CHECK(evaluate(matmul(a, a)) == Tensor::matrix<std::int32_t>({{-2147483647, 8}, {0, -2147483639}}));
  CHECK(evaluate(matmul(a, a, {.transpose_b = true})).shape() == Shape{2, 2});
}

TEST_CASE("a large product is the same for every number of threads") {
  const Tensor a = made(4, {700, 90}), b = made(5, {90, 150});
  std::vector<Tensor> seen;
  for (const int threads : {1, 3}) {
    Graph g;
    const Output x = placeholder<float>(g, {kUnknown, 90}, "x"), w = placeholder<float>(g, {90, 150}, "w");
    Session session(g, {.intra_op_parallelism_threads = threads});
    seen.push_back(session.run(matmul(x, w), {{x, a}, {w, b}}));
  }
  CHECK(seen[0] == seen[1]);
}

TEST_CASE("matmul has the gradient that finite differences give, for every pair of flags") {
  for (const bool ta : {false, true})
    for (const bool tb : {false, true}) {
      CAPTURE(ta);
      CAPTURE(tb);
      const Tensor a = random(ta ? Shape{3, 2} : Shape{2, 3}), b = random(tb ? Shape{4, 3} : Shape{3, 4}, 2);
      const auto product = [&](const Outputs& in) {
        return matmul(in[0], in[1], {.transpose_a = ta, .transpose_b = tb});
      };
      CHECK(gradient_gap(product, {a, b}) < 1e-6);
    }
}
