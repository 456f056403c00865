// Products of many matrices: by hand, against MatMul matrix by matrix, and their derivatives.
#include "ops/batch_matmul.h"

#include <doctest/doctest.h>

#include <optional>

#include "graph/error.h"
#include "ops/array_ops.h"
#include "ops/gradient_check.h"
#include "ops/math_ops.h"

using namespace runnel;

namespace {

// The ith matrix of a tensor of rank 3.
Output matrix(Output x, int i) { return x[i]; }

Shape stored(std::int64_t batch, std::int64_t rows, std::int64_t columns, bool transposed) {
  return transposed ? Shape{batch, columns, rows} : Shape{batch, rows, columns};
}

}  // namespace

TEST_CASE("multiplies two pairs of matrices, worked by hand, integers too") {
  Graph g;
  const Output x = constant(g, Tensor::from<int>({2, 1, 2}, {1, 2, 3, 4}));
  const Output y = constant(g, Tensor::from<int>({2, 2, 1}, {5, 6, 7, 8}));
  CHECK(evaluate(batch_matmul(x, y)) == Tensor::from<int>({2, 1, 1}, {17, 53}));
  CHECK(evaluate(batch_matmul(x, x, {.adj_x = true})) ==
        Tensor::from<int>({2, 2, 2}, {1, 2, 2, 4, 9, 12, 12, 16}));
}

TEST_CASE("gives what MatMul gives for each pair, of any flags") {
  for (const bool tx : {false, true})
    for (const bool ty : {false, true}) {
      CAPTURE(tx);
      CAPTURE(ty);
      Graph g;
      const Output x = constant(g, random(stored(3, 4, 5, tx))),
                   y = constant(g, random(stored(3, 5, 2, ty), 2));
      const Output all = batch_matmul(x, y, {.adj_x = tx, .adj_y = ty});
      for (int i = 0; i < 3; ++i)
        CHECK(evaluate(matrix(all, i)) ==
              evaluate(matmul(matrix(x, i), matrix(y, i), {.transpose_a = tx, .transpose_b = ty})));
    }
}

TEST_CASE("stretches the dimensions before the matrices, and takes two matrices alone") {
  Graph g;
  const Output x = constant(g, random({2, 1, 3, 4})), y = constant(g, random({5, 4, 2}, 2));
  const Output all = batch_matmul(x, y);
  CHECK(all.shape() == Shape{2, 5, 3, 2});
  for (int i = 0; i < 2; ++i)
    for (int k = 0; k < 5; ++k) CHECK(evaluate(all[i][k]) == evaluate(matmul(x[i][0], y[k])));
  CHECK(evaluate(batch_matmul(x[0][0], y[0])) == evaluate(matmul(x[0][0], y[0])));
}

TEST_CASE("a product over no elements is zero, and no matrices have no products") {
  Graph g;
  const auto zeros = [&](const Shape& shape) { return constant(g, Tensor::zeros(DType::kFloat, shape)); };
  CHECK(evaluate(batch_matmul(zeros({2, 3, 0}), zeros({2, 0, 1}))) ==
        Tensor::zeros(DType::kFloat, {2, 3, 1}));
  CHECK(evaluate(batch_matmul(zeros({0, 3, 4}), zeros({4, 2}))).shape() == Shape{0, 3, 2});
  CHECK(evaluate(batch_matmul(zeros({2, 0, 4}), zeros({1, 4, 2}))).shape() == Shape{2, 0, 2});
}

TEST_CASE("has the gradient that finite differences give, for every pair of flags and stretching") {
  for (const bool tx : {false, true})
    for (const bool ty : {false, true})
      for (const std::int64_t batch : {1, 2}) {
        CAPTURE(tx);
        CAPTURE(ty);
        CAPTURE(batch);
        const auto f = [&](const Outputs& in) {
          return batch_matmul(in[0], in[1], {.adj_x = tx, .adj_y = ty});
        };
        CHECK(gradient_gap(f, {random(stored(2, 3, 4, tx)), random(stored(batch, 4, 2, ty), 2)}) < 1e-6);
        const auto unknown = [&](const Outputs& in) {
          return f({placeholder_with_default(in[0], Shape::unknown()), in[1]});
        };
        CHECK(gradient_gap(unknown, {random(stored(batch, 3, 4, tx)), random(stored(2, 4, 2, ty), 2)}) <
              1e-6);
      }
  const auto flat = [](const Outputs& in) { return batch_matmul(in[0], in[1]); };
  CHECK(gradient_gap(flat, {random({3, 4}), random({4, 2})}) < 1e-6);
}

TEST_CASE("factors that do not fit are refused in full text") {
  Graph g;
  const Output x = placeholder<float>(g, {2, 3, 4}, "x"), y = placeholder<float>(g, {2, 5, 6}, "y");
  CHECK_THROWS_WITH_AS(batch_matmul(x, y),
                       "BatchMatMulV2 'MatMul': inner dimensions differ: x is float[2,3,4] (x:0), y is "
                       "float[2,5,6] (y:0)",
                       InvalidArgument);
  CHECK_THROWS_AS(batch_matmul(x, placeholder<float>(g, {3, 4, 5})), InvalidArgument);
  CHECK_THROWS_AS(batch_matmul(x, placeholder<float>(g, {4})), InvalidArgument);
}

TEST_CASE("goes out as GraphDef and comes in again with its flags") {
  Graph g;
  const Output x = constant(g, random({2, 3, 4}));
  batch_matmul(x, x, {.adj_y = true, .name = "p"});
  Graph again;
  again.import_graph_def(g.to_graph_def());
  CHECK(evaluate(again.output("p:0")) == evaluate(g.output("p:0")));
}
