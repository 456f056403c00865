// ArgMax and ArgMin.
#include "ops/arg_ops.h"

#include <doctest/doctest.h>

#include <limits>

#include "graph/error.h"
#include "graph/runtime/session.h"
#include "ops/array_ops.h"
#include "ops/gradient_check.h"

using namespace runnel;

TEST_CASE("the first of equal elements is the largest or smallest, along any dimension") {
  Graph g;
  const Output x = constant(g, Tensor::matrix<float>({{1, 3, 3}, {4, 0, 0}}));
  CHECK(evaluate(argmax(x, 1)) == Tensor::vector<std::int64_t>({1, 0}));
  CHECK(evaluate(argmax(x, -2)) == Tensor::vector<std::int64_t>({1, 0, 0}));
  CHECK(evaluate(argmin(x, -1, {.output_type = DType::kInt32})) == Tensor::vector<std::int32_t>({0, 1}));
  CHECK(argmax(x, 0).shape() == Shape{3});
}

TEST_CASE("NaN is neither largest nor smallest beside a number") {
  Graph g;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Output x = constant(g, Tensor::matrix<float>({{nan, 1, 2}, {5, nan, 6}, {nan, nan, nan}}));
  CHECK(evaluate(argmax(x, 1)) == Tensor::vector<std::int64_t>({2, 2, 0}));
  CHECK(evaluate(argmin(x, 1)) == Tensor::vector<std::int64_t>({1, 0, 0}));
}

TEST_CASE("a dimension that is not there or is empty is refused") {
  Graph g;
  const Output x = placeholder<float>(g, {2, kUnknown}, "x");
  CHECK_THROWS_WITH_AS(
      argmax(x, 2),
      "ArgMax 'ArgMax': there is no dimension 2: input is float[2,?] (x:0), dimension is int32[] "
      "(ArgMax/dimension:0)",
      InvalidArgument);
  Session s(g);
  CHECK_THROWS_AS(s.run(argmax(x, 1), {{x, Tensor::zeros(DType::kFloat, {2, 0})}}), InvalidArgument);
  CHECK(s.run(argmax(x, 0), {{x, Tensor::zeros(DType::kFloat, {2, 0})}}).shape() == Shape{0});
}
