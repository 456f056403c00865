// Slice, StridedSlice with every mask, Pad, and the subscripts of handles.
#include "ops/array_slice_ops.h"

#include <doctest/doctest.h>

#include "graph/error.h"
#include "ops/array_ops.h"
#include "ops/array_shape_ops.h"
#include "ops/gradient_check.h"

using namespace runnel;

namespace {

// [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]
Output table(Graph& g) {
  std::vector<int> values(12);
  for (int i = 0; i < 12; ++i) values[static_cast<std::size_t>(i)] = i;
  return constant(g, Tensor::from({3, 4}, values), {.name = "t"});
}

}  // namespace

TEST_CASE("a slice is the box that was asked for, -1 being the rest") {
  Graph g;
  CHECK(evaluate(slice(table(g), {1, 1}, {2, 2})) == Tensor::matrix<int>({{5, 6}, {9, 10}}));
  CHECK(evaluate(slice(table(g), {2, 0}, {-1, -1})) == Tensor::matrix<int>({{8, 9, 10, 11}}));
  CHECK(evaluate(slice(table(g), {0, 0}, {-1, 4})).shape() == Shape{3, 4});
  CHECK(evaluate(slice(table(g), {3, 0}, {0, 4})).shape() == Shape{0, 4});
}

TEST_CASE("a slice that reaches over an edge is refused in full text") {
  Graph g;
  const Output x = placeholder<float>(g, {3, 4}, "x");
  CHECK_THROWS_WITH_AS(
      slice(x, {2, 0}, {2, 4}, {.name = "s"}),
      "Slice 's': begin[0] 2 with size 2 is not inside dimension 0: input is float[3,4] (x:0), "
      "begin is int32[2] (s/begin:0), size is int32[2] (s/size:0)",
      InvalidArgument);
  CHECK_THROWS_AS(slice(x, {-1, 0}, {1, 1}), InvalidArgument);
  CHECK_THROWS_AS(slice(x, {0, 0}, {1, -2}), InvalidArgument);
  CHECK_THROWS_AS(slice(x, {0}, {1}), InvalidArgument);
}

TEST_CASE("ranges go both ways, are cut at the edges, and may be empty") {
  Graph g;
  const Output t = table(g);
  CHECK(evaluate(strided_slice(t, {5, 0}, {9, 4}, {1, 1})).shape() == Shape{0, 4});
  CHECK(evaluate(strided_slice(t, {-10, 0}, {2, 1}, {1, 1})) == Tensor::matrix<int>({{0}, {4}}));
  CHECK(evaluate(strided_slice(t, {2, 3}, {0, -9}, {-1, -2})) == Tensor::matrix<int>({{11, 9}, {7, 5}}));
  CHECK(evaluate(strided_slice(t, {0, 0}, {3, 4}, {2, 3})) == Tensor::matrix<int>({{0, 3}, {8, 11}}));
  CHECK(evaluate(strided_slice(t, {0}, {1}, {1})) == Tensor::matrix<int>({{0, 1, 2, 3}}));
}

TEST_CASE("each mask does what it says") {
  Graph g;
  const Output t = table(g);
  const auto masked = [&](SliceMasks masks) {
    return evaluate(strided_slice(t, {1, 1}, {2, 2}, {1, 1}, {.masks = masks}));
  };
  CHECK(masked({}) == Tensor::matrix<int>({{5}}));
  CHECK(masked({.begin = 1}) == Tensor::matrix<int>({{1}, {5}}));
  CHECK(masked({.end = 2}) == Tensor::matrix<int>({{5, 6, 7}}));
  CHECK(masked({.ellipsis = 1}) == Tensor::matrix<int>({{1}, {5}, {9}}));
  CHECK(masked({.new_axis = 1}) == Tensor::from({1, 1, 4}, std::vector<int>{4, 5, 6, 7}));
  CHECK(masked({.shrink_axis = 1}) == Tensor::vector({5}));
  CHECK(masked({.shrink_axis = 3}) == Tensor::scalar(5));
  CHECK(masked({.ellipsis = 2, .shrink_axis = 1}) == Tensor::vector({4, 5, 6, 7}));
}

TEST_CASE("what no slice can mean is refused") {
  Graph g;
  const Output t = table(g);
  CHECK_THROWS_AS(strided_slice(t, {0}, {1}, {0}), InvalidArgument);
  CHECK_THROWS_AS(strided_slice(t, {0, 0, 0}, {1, 1, 1}, {1, 1, 1}), InvalidArgument);
  CHECK_THROWS_AS(strided_slice(t, {0, 0}, {1, 1}, {1, 1}, {.masks = {.ellipsis = 3}}), InvalidArgument);
  CHECK_THROWS_AS(strided_slice(t, {0}, {1}, {-1}, {.masks = {.shrink_axis = 1}}), InvalidArgument);
  CHECK_THROWS_WITH_AS(
      t[5],
      "StridedSlice 'strided_slice': index 5 is out of range of dimension 0, which has 3: input is "
      "int32[3,4] (t:0), begin is int32[1] (strided_slice/stack:0), end is int32[1] "
      "(strided_slice/stack_1:0), strides is int32[1] (strided_slice/stack_2:0)",
      InvalidArgument);
}

TEST_CASE("a subscript picks one row, negative ones from the end") {
  Graph g;
  CHECK(evaluate(table(g)[1]) == Tensor::vector({4, 5, 6, 7}));
  CHECK(evaluate(table(g)[-1][0]) == Tensor::scalar(8));
}

TEST_CASE("what is known of a shape passes through slices of it") {
  Graph g;
  const Output x = placeholder<float>(g, {kUnknown, 3, 5});
  const Output tail = strided_slice(shape(x), {1}, {3}, {1});
  CHECK(fill(tail, 0.f).shape() == Shape{3, 5});
  CHECK(fill(strided_slice(shape(x), {0}, {2}, {1}), 0.f).shape() == Shape{kUnknown, 3});
}

TEST_CASE("a border of zeros, or of a value, lies around the tensor") {
  Graph g;
  const Output x = constant(g, Tensor::matrix<int>({{1, 2}}));
  const Tensor border = Tensor::matrix<int>({{1, 0}, {0, 1}});
  CHECK(evaluate(pad(x, border)) == Tensor::matrix<int>({{0, 0, 0}, {1, 2, 0}}));
  const Node& nines = g.add("PadV2", {x, constant(g, border), constant(g, Tensor::scalar(9))});
  CHECK(evaluate(nines) == Tensor::matrix<int>({{9, 9, 9}, {1, 2, 9}}));
  CHECK(evaluate(pad(constant(g, Tensor::zeros(DType::kInt32, {0})), Tensor::matrix<int>({{1, 1}}))) ==
        Tensor::vector({0, 0}));
  CHECK_THROWS_AS(pad(x, Tensor::matrix<int>({{-1, 0}, {0, 0}})), InvalidArgument);
  CHECK_THROWS_AS(pad(x, Tensor::matrix<int>({{1, 0}})), InvalidArgument);
}

TEST_CASE("gradients of slices are what finite differences give") {
  const auto strided = [](const Outputs& in) {
    return strided_slice(in[0], {3, 0}, {0, 3}, {-2, 1}, {.masks = {.new_axis = 0}});
  };
  CHECK(gradient_gap(strided, {random({4, 3})}) < 1e-6);
  CHECK(gradient_gap([](const Outputs& in) { return in[0][-1]; }, {random({4, 3})}) < 1e-6);
  CHECK(gradient_gap(
            [](const Outputs& in) {
              return slice(in[0], {1, 0}, {2, -1});
            },
            {random({4, 3})}) < 1e-6);
  CHECK(gradient_gap(
            [](const Outputs& in) {
              return pad(in[0], Tensor::matrix<int>({{1, 2}}));
            },
            {random({3})}) < 1e-6);
}
