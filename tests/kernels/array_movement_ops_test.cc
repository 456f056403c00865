// Reshape, Transpose, Tile and their like: worked by hand, against loops, refusals, zero elements.
#include "ops/array_movement_ops.h"

#include <doctest/doctest.h>

#include "graph/error.h"
#include "ops/array_ops.h"
#include "ops/gradient_check.h"

using namespace runnel;

namespace {

Tensor counted(const Shape& shape) {
  Tensor out(DType::kInt32, shape);
  std::int32_t next = 0;
  for (std::int32_t& value : out.mutable_values<std::int32_t>()) value = next++;
  return out;
}

}  // namespace

TEST_CASE("a dimension of -1 is what is left, also of nothing") {
  Graph g;
  CHECK(reshape(constant(g, counted({3, 4})), {2, -1}).shape() == Shape{2, 6});
  CHECK(evaluate(reshape(constant(g, counted({3, 4})), {2, -1})) == counted({2, 6}));
  CHECK(evaluate(reshape(constant(g, counted({0, 3})), {-1, 3})).shape() == Shape{0, 3});
  CHECK(reshape(placeholder<float>(g, {kUnknown, 3}), {-1, 3}).shape() == Shape{kUnknown, 3});
}

TEST_CASE("a reshape to another number of elements is refused in full text") {
  Graph g;
  const Output x = placeholder<float>(g, {3, 4}, "x");
  CHECK_THROWS_WITH_AS(reshape(x, {5}, {.name = "r"}),
                       "Reshape 'r': shape [5] has another number of elements: tensor is float[3,4] (x:0), "
                       "shape is int32[1] (r/shape:0)",
                       InvalidArgument);
  CHECK_THROWS_AS(reshape(x, {5, -1}), InvalidArgument);
  CHECK_THROWS_AS(reshape(x, {-1, -1}), InvalidArgument);
  CHECK_THROWS_AS(reshape(x, {-2, 6}), InvalidArgument);
}

TEST_CASE("dimensions of one come and go") {
  Graph g;
  const Output x = constant(g, counted({1, 3, 1}));
  CHECK(expand_dims(x, -1).shape() == Shape{1, 3, 1, 1});
  CHECK(expand_dims(x, 0).shape() == Shape{1, 1, 3, 1});
  CHECK(squeeze(x).shape() == Shape{3});
  CHECK(squeeze(x, {.axes = {-1}}).shape() == Shape{1, 3});
  CHECK(evaluate(squeeze(expand_dims(x, 1))) == counted({3}));
  CHECK_THROWS_AS(expand_dims(x, 4), InvalidArgument);
  CHECK_THROWS_AS(squeeze(x, {.axes = {1}}), InvalidArgument);
}

TEST_CASE("a transposed element lies where the permutation says") {
  Graph g;
  const Tensor x = counted({2, 3, 4, 5});
  const Tensor y = evaluate(transpose(constant(g, x), {.perm = {2, 0, -1, 1}}));  // [4, 2, 5, 3]
  REQUIRE(y.shape() == Shape{4, 2, 5, 3});
  for (int a = 0; a < 2; ++a)
    for (int b = 0; b < 3; ++b)
      for (int c = 0; c < 4; ++c)
        for (int d = 0; d < 5; ++d)
          CHECK(y.values<std::int32_t>()[static_cast<std::size_t>(((c * 2 + a) * 5 + d) * 3 + b)] ==
                ((a * 3 + b) * 4 + c) * 5 + d);
}

TEST_CASE("a matrix larger than a tile is transposed, its last tiles too") {
  Graph g;
  const Tensor y = evaluate(transpose(constant(g, counted({37, 21}))));
  REQUIRE(y.shape() == Shape{21, 37});
  for (int i = 0; i < 21; ++i)
    for (int k = 0; k < 37; ++k)
      CHECK(y.values<std::int32_t>()[static_cast<std::size_t>(i * 37 + k)] == k * 21 + i);
}

TEST_CASE("all dtypes transpose, strings among them, and so does nothing") {
  Graph g;
  const auto strings = [](std::vector<std::string> values, Shape shape) {
    return Tensor::from(shape, values);
  };
  CHECK(evaluate(transpose(constant(g, strings({"a", "b", "c", "d"}, {2, 2})))) ==
        strings({"a", "c", "b", "d"}, {2, 2}));
  CHECK(evaluate(transpose(constant(g, Tensor::matrix<bool>({{true, false}})))).shape() == Shape{2, 1});
  CHECK(evaluate(transpose(constant(g, Tensor::matrix<double>({{1, 2}, {3, 4}})))) ==
        Tensor::matrix<double>({{1, 3}, {2, 4}}));
  CHECK(evaluate(transpose(constant(g, counted({0, 3})))).shape() == Shape{3, 0});
  CHECK_THROWS_AS(transpose(constant(g, counted({2, 3})), {.perm = {0, 0}}), InvalidArgument);
}

TEST_CASE("a permutation is inverted, and what is none is refused") {
  Graph g;
  CHECK(evaluate(invert_permutation(constant(g, Tensor::vector({2, 0, 1})))) == Tensor::vector({1, 2, 0}));
  CHECK_THROWS_WITH_AS(evaluate(invert_permutation(constant(g, Tensor::vector({0, 3})))),
                       "InvertPermutation 'InvertPermutation_1': x[1] = 3 is not in [0, 2)", InvalidArgument);
  CHECK_THROWS_AS(evaluate(invert_permutation(constant(g, Tensor::vector({1, 1})))), InvalidArgument);
}

TEST_CASE("tiles repeat along each dimension") {
  Graph g;
  const Output x = constant(g, Tensor::matrix<int>({{1, 2}, {3, 4}}));
  CHECK(evaluate(tile(x, {1, 2})) == Tensor::matrix<int>({{1, 2, 1, 2}, {3, 4, 3, 4}}));
  CHECK(evaluate(tile(x, {2, 1})) == Tensor::matrix<int>({{1, 2}, {3, 4}, {1, 2}, {3, 4}}));
  CHECK(evaluate(tile(x, {1, 1})) == Tensor::matrix<int>({{1, 2}, {3, 4}}));
  CHECK(evaluate(tile(x, {0, 2})).shape() == Shape{0, 4});
  CHECK_THROWS_AS(tile(x, {2}), InvalidArgument);
  CHECK_THROWS_AS(tile(x, {-1, 1}), InvalidArgument);
}

TEST_CASE("a tensor stretches to a shape, and only to one that it fits") {
  Graph g;
  CHECK(evaluate(broadcast_to(constant(g, Tensor::vector({1, 2})), {2, 2})) ==
        Tensor::matrix<int>({{1, 2}, {1, 2}}));
  CHECK(evaluate(broadcast_to(constant(g, Tensor::matrix<int>({{1}, {2}})), {2, 2})) ==
        Tensor::matrix<int>({{1, 1}, {2, 2}}));
  CHECK(evaluate(broadcast_to(constant(g, Tensor::scalar(7)), {0, 2})).shape() == Shape{0, 2});
  CHECK_THROWS_AS(broadcast_to(constant(g, Tensor::vector({1, 2})), {3}), InvalidArgument);
}

TEST_CASE("gradients of movement are what finite differences give") {
  CHECK(gradient_gap(
            [](const Outputs& in) {
              return transpose(in[0], {.perm = {1, 2, 0}});
            },
            {random({2, 3, 2})}) < 1e-6);
  CHECK(gradient_gap([](const Outputs& in) { return tile(in[0], {2, 3}); }, {random({2, 2})}) < 1e-6);
  CHECK(gradient_gap(
            [](const Outputs& in) {
              return broadcast_to(in[0], {3, 2, 2});
            },
            {random({2, 1})}) < 1e-6);
  CHECK(gradient_gap([](const Outputs& in) { return reshape(expand_dims(in[0], 1), {4}); },
                     {random({2, 2})}) < 1e-6);
}
