// Names, dtypes and shapes of the nodes that arithmetic makes, against what TensorFlow's Python functions
// make.
#include "ops/math_ops.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "graph/dataflow.h"
#include "graph/error.h"
#include "ops/array_ops.h"
#include "ops/state_ops.h"
#include "ops/variables.h"

using namespace runnel;

namespace {

// "name | op | inputs" of every node made since `first`.
std::vector<std::string> listing(const Graph& g, std::size_t first) {
  std::vector<std::string> lines;
  const std::vector<Node*> nodes = g.nodes();
  for (std::size_t i = first; i < nodes.size(); ++i) {
    std::string line = nodes[i]->name() + " | " + nodes[i]->op() + " |";
    for (const Output& in : nodes[i]->input_list()) line += " " + in.node().name();
    for (const Node* in : nodes[i]->control_inputs()) line += " ^" + in->name();
    lines.push_back(line);
  }
  return lines;
}
using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("operators name nodes and their constants as TensorFlow does") {
  Graph g;
  const Output x = placeholder<float>(g, {3}, "x");
  const Output d = 2.0f - x;  // one statement each: C++ may make the operands in any order
  const Output m = x * 3;
  d + m;
  -x / 4;
  CHECK(listing(g, 1) == Lines{"sub/x | Const |", "sub | Sub | sub/x x", "mul/y | Const |",
                               "mul | Mul | x mul/y", "add | AddV2 | sub mul", "Neg | Neg | x",
                               "truediv/y | Const |", "truediv | RealDiv | Neg truediv/y"});
}

TEST_CASE("dividing integers converts both to double in the scope of the division") {
  Graph g;
  const Output i = placeholder<std::int32_t>(g, {3}, "i");
  const Output q = i / 2;
  CHECK(q.dtype() == DType::kDouble);
  CHECK(listing(g, 1) == Lines{"truediv/y | Const |", "truediv/Cast | Cast | i",
                               "truediv/Cast_1 | Cast | truediv/y",
                               "truediv | RealDiv | truediv/Cast truediv/Cast_1"});
}

TEST_CASE("functions name their nodes by the op, or as told") {
  Graph g;
  const Output x = placeholder<float>(g, {3}, "x");
  add(x, 1.0f, {.name = "q"});
  add(x, x);
  floordiv(x, x);
  floormod(x, x);
  square(x);
  CHECK(listing(g, 1) == Lines{"q/y | Const |", "q | AddV2 | x q/y", "Add | AddV2 | x x",
                               "floordiv | FloorDiv | x x", "FloorMod | FloorMod | x x",
                               "Square | Square | x"});
}

TEST_CASE("reductions put given axes into their scope and all axes beside it") {
  Graph g;
  const Output x = placeholder<float>(g, {3, 4}, "x");
  CHECK(reduce_mean(x, {.name = "loss"}).shape() == Shape{});
  CHECK(reduce_sum(x, Axes{-1}).shape() == Shape{3});
  CHECK(reduce_max(x, Axes(0), {.keep_dims = true}).shape() == Shape{1, 4});
  CHECK(reduce_prod(x, Axes{}).shape() == Shape{3, 4});
  CHECK(listing(g, 1) == Lines{"Const | Const |", "loss | Mean | x Const", "Sum/reduction_indices | Const |",
                               "Sum | Sum | x Sum/reduction_indices", "Max/reduction_indices | Const |",
                               "Max | Max | x Max/reduction_indices", "Prod/reduction_indices | Const |",
                               "Prod | Prod | x Prod/reduction_indices"});
}

TEST_CASE("matmul refuses unequal inner dimensions while the graph is being built") {
  Graph g;
  const Output x = placeholder<float>(g, {32, 784}, "x");
  const Output w = placeholder<float>(g, {100, 10}, "w");
  CHECK_THROWS_WITH_AS(
      matmul(x, w, {.name = "logits"}),
      "MatMul 'logits': inner dimensions differ: a is float[32,784] (x:0), b is float[100,10] (w:0)",
      InvalidArgument);
}

TEST_CASE("an axis that is not there is refused with the input's shape") {
  Graph g;
  const Output x = placeholder<float>(g, {3, 4}, "x");
  CHECK_THROWS_WITH_AS(
      reduce_sum(x, Axes{2}),
      "Sum 'Sum': no axis 2 in a tensor of rank 2: input is float[3,4] (x:0), reduction_indices is "
      "int32[1] (Sum/reduction_indices:0)",
      InvalidArgument);
  CHECK(reduce_sum(x, Axes{0, -2}).shape() == Shape{4});  // named twice counts once, as in TensorFlow
}

TEST_CASE("select takes one flag a row or an element, and no other shape") {
  Graph g;
  const Output x = placeholder<float>(g, {3, 4}, "x");
  const Output rows = placeholder<bool>(g, {3}, "rows"), wrong = placeholder<bool>(g, {4}, "wrong");
  CHECK(select(rows, x, x).shape() == Shape{3, 4});
  CHECK(select(less(x, 1.0f), x, x).shape() == Shape{3, 4});
  CHECK_THROWS_AS(select(wrong, x, x), InvalidArgument);
}

TEST_CASE("a number that an integer dtype cannot hold is refused, naming its constant and what it meets") {
  Graph g;
  const Output n = placeholder<std::int32_t>(g, {3}, "n");
  CHECK_THROWS_WITH_AS(n * 2.5,
                       "Const 'mul/y': int32 cannot hold the number 2.5: give one that it can, or cast the "
                       "tensor that it meets, n:0 of int32[3]",
                       InvalidArgument);
  const Variable step = variable(g, Tensor::scalar<std::int8_t>(0), "step");
  CHECK_THROWS_WITH_AS(300 - step,
                       "Const 'sub/x': int8 cannot hold the number 300: give one that it can, or cast the "
                       "tensor that it meets, step/read:0 of int8[]",
                       InvalidArgument);
  CHECK_THROWS_WITH_AS(assign_add(step, 0.5),
                       "Const 'AssignAdd/value': int8 cannot hold the number 0.5: give one that it can, or "
                       "cast the tensor that it meets",
                       InvalidArgument);
}
