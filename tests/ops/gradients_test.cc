// The walk back: names, sums, stops, what has no gradient, and where errors point.
#include "ops/gradients.h"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "graph/error.h"
#include "graph/runtime/session.h"
#include "ops/ops.h"
#include "tests/ops/node_listing.h"

using namespace runnel;

namespace {

// Ops whose gradients are wrong or missing, to see what gradients() says.
const OpRegistration kBadShape{{
    .name = "TestBadShape",
    .inputs = {"x: float"},
    .outputs = {"y: float"},
    .shape = same_shape,
    .gradient = [](const Node& n, Grad) -> Grads {
      return {constant(n.graph(), Tensor::zeros(DType::kFloat, {7}))};
    },
}};
const OpRegistration kThrows{{
    .name = "TestThrows",
    .inputs = {"x: float"},
    .outputs = {"y: float"},
    .shape = same_shape,
    .gradient = [](const Node& n, Grad d) -> Grads { return {matmul(n.input(0), d.dense())}; },
}};
const OpRegistration kUnwritten{{
    .name = "TestUnwritten",
    .inputs = {"x: float"},
    .outputs = {"y: float"},
    .shape = same_shape,
    .gradient = Gradient::unwritten("nobody asked for it yet"),
}};

Tensor feed_of(const Shape& shape) {
  Tensor out = random(shape, 3);
  for (double& value : out.mutable_values<double>())
    value += value < 0 ? -0.5 : 0.5;  // away from 0, for division
  return out;
}

}  // namespace

TEST_CASE("makes the nodes that TensorFlow makes, with sums, zeros, gates and given grad_ys") {
  Graph g;
  const Output x = placeholder<float>(g, {kUnknown, 3}, "x"), y = placeholder<float>(g, {2, 3}, "y");
  const Output z = x * y;
  const Output s = split_by(z, {1, 2}, 1)[0];
  const Output square = s * s;
  const Output q = square + s;
  gradients({q, z}, {x, y}, {.grad_ys = {Output(), ones<float>(g, {2, 3})}});
  gradients({reduce_sum(q, {.name = "qq"})}, {x, y}, {.gate_gradients = true, .stop_gradients = {x}});
  gradients({q}, {y}, {.unconnected_gradients = Unconnected::kZero});
  check_same(listing_of(g), golden_listing("builders/nodes.txt", "gradients (ref)"));
}

TEST_CASE("sums over stretched axes and keeps each input's shape: the numbers of case E5") {
  Graph g;
  std::vector<float> counted;
  for (int i = 1; i <= 12; ++i) counted.push_back(static_cast<float>(i));
  const Output x = constant(g, Tensor::from<float>({3, 4}, counted));
  const Output y = constant(g, Tensor::matrix<float>({{1, 2, 3, 4}}));
  const Grads d = gradients({reduce_sum(square(x + y))}, {x, y});
  CHECK(evaluate(d[0].dense()) ==
        Tensor::matrix<float>({{4, 8, 12, 16}, {12, 16, 20, 24}, {20, 24, 28, 32}}));
  CHECK(evaluate(d[1].dense()) == Tensor::matrix<float>({{36, 48, 60, 72}}));
}

TEST_CASE("agrees with finite differences for every pair of shapes that broadcasts") {
  const std::vector<Shape> shapes{{}, {1}, {3}, {1, 3}, {2, 1}, {2, 3}, {1, 1, 3}, {0}, {0, 3}};
  using F = Output (*)(Operand, Operand, OpOptions);
  const std::vector<F> functions{add, subtract, multiply, divide, maximum};
  for (const Shape& a : shapes)
    for (const Shape& b : shapes) {
      try {
        broadcast(a, b);
      } catch (const InvalidArgument&) {
        continue;
      }
      for (const F f : functions) {
        CAPTURE(a);
        CAPTURE(b);
        CHECK(gradient_gap([&](const Outputs& in) { return f(in[0], in[1], {}); },
                           {feed_of(a), random(b, 9)}) < 1e-6);
      }
    }
}

TEST_CASE("takes stop_gradients as constants") {
  Graph g;
  const Output x = constant(g, Tensor::scalar(3.0f)), y = constant(g, Tensor::scalar(5.0f));
  const Grads d = gradients({x * y}, {x, y}, {.stop_gradients = {y}});
  CHECK(evaluate(d[0].dense()).scalar<float>() == 5);
  CHECK(evaluate(d[1].dense()).scalar<float>() == 3);
}

TEST_CASE("differentiates a gradient once more") {
  Graph g;
  const Output x = constant(g, Tensor::scalar(2.0f));
  const Output cube = x * x * x;
  const Grads first = gradients({cube}, {x});
  const Grads second = gradients({first[0].dense()}, {x});
  CHECK(evaluate(first[0].dense()).scalar<float>() == 12);
  CHECK(evaluate(second[0].dense()).scalar<float>() == 12);
}

TEST_CASE("gives none through integers and where nothing leads, zeros where asked") {
  Graph g;
  const Output x = constant(g, Tensor::vector<float>({1, 2})), apart = constant(g, Tensor::scalar(1.0f));
  const Output loss = cast<float>(argmax(x, 0)) + 1.0f;
  CHECK_FALSE(gradients({loss}, {x})[0]);
  CHECK_FALSE(gradients({loss}, {apart})[0]);
  const Grads zeros = gradients({loss}, {x}, {.unconnected_gradients = Unconnected::kZero});
  CHECK(evaluate(zeros[0].dense()) == Tensor::vector<float>({0, 0}));
}

TEST_CASE("names op, node and the way to the loss where a gradient is not written yet") {
  Graph g;
  const Output x = placeholder<float>(g, {2}, "x");
  const Output odd = g.add("TestUnwritten", {x}, {}, "odd");
  const Output loss = reduce_sum(square(odd, {.name = "sq"}), {.name = "loss"});
  CHECK_THROWS_WITH_AS(
      gradients({loss}, {x}),
      "TestUnwritten 'odd' has no gradient here: nobody asked for it yet; it is on the way odd -> sq -> "
      "loss to the loss: a stop_gradient after it takes its result as a constant",
      Unimplemented);
}

TEST_CASE("refuses a gradient of another shape than its input, naming the forward node") {
  Graph g;
  const Output x = placeholder<float>(g, {2}, "x");
  const Output bad = g.add("TestBadShape", {x}, {}, "bad");
  CHECK_THROWS_WITH_AS(
      gradients({bad}, {x}),
      "gradient of TestBadShape 'bad': for input 0 it is float[7] (gradients/bad_grad/Const:0), but the "
      "input is float[2] (x:0)",
      InvalidArgument);
}

TEST_CASE("an error inside a gradient names the forward node and its line") {
  Graph g;
  const Output x = placeholder<float>(g, {2}, "x");
  const Location here = Location::here();
  const Output bad = g.add("TestThrows", {x}, {}, "bad", here);
  try {
    gradients({bad}, {x});
    FAIL("no error");
  } catch (const InvalidArgument& error) {
    CHECK(error.message().starts_with("gradient of TestThrows 'bad': MatMul 'gradients/bad_grad/MatMul': "));
    CHECK(error.node() == "bad");
    CHECK(error.where().line == here.line);
  }
}

TEST_CASE("nodes of a gradient say the line of the forward node") {
  Graph g;
  const Output x = placeholder<float>(g, {2}, "x");
  const Location here = Location::here();
  const Output sq = square(x, {.name = "sq", .where = here});
  gradients({sq}, {x});
  CHECK(g.operation("gradients/sq_grad/Mul").node().where().line == here.line);
}

TEST_CASE("refuses grad_ys that do not fit their ys") {
  Graph g;
  const Output x = placeholder<float>(g, {2}, "x");
  const Output y = square(x, {.name = "y"});
  const Output wrong = constant(g, Tensor::zeros(DType::kFloat, {3}), {.name = "wrong"});
  CHECK_THROWS_WITH_AS(
      gradients({y}, {x}, {.grad_ys = {wrong}}),
      "gradients: grad_ys[0] is float[3] (wrong:0), but the y it belongs to is float[2] (y:0)",
      InvalidArgument);
  CHECK_THROWS_WITH_AS(gradients({y}, {x}, {.grad_ys = {y, y}}), "gradients: grad_ys has 2 entries for 1 ys",
                       InvalidArgument);
}

TEST_CASE("makes gradients of rows whole where an op computed the rows' tensor, and where several meet") {
  const auto rows = [](const Outputs& in) {
    const Output squares = square(in[0]);
    const Output few = gather(squares, Tensor::vector<std::int32_t>({2, 0, 2}));
    return few * gather(in[0], Tensor::vector<std::int32_t>({0, 1, 1}));
  };
  CHECK(gradient_gap(rows, {random({3, 2})}) < 1e-6);
}

TEST_CASE("joins gradients of rows where several of one tensor meet, and widens their indices") {
  Graph g;
  const Output x = placeholder<float>(g, {3, 2}, "x");
  const Output first = gather(x, Tensor::vector<std::int32_t>({2, 0}));
  const Output second = gather(x, Tensor::vector<std::int64_t>({2}));
  const Grads grads = gradients({first, second}, {x});
  const IndexedSlices* rows = grads[0].slices();
  REQUIRE(rows);
  CHECK(rows->values.name() == "gradients/concat:0");
  CHECK(rows->indices.name() == "gradients/concat_1:0");
  CHECK(evaluate(rows->indices) == Tensor::vector<std::int64_t>({2, 0, 2}));
  CHECK(rows->values.shape() == Shape{3, 2});
}

TEST_CASE("gradient_gap sees a wrong gradient") {
  const auto wrong = [](const Outputs& in) { return square(in[0]) + stop_gradient(in[0]); };
  CHECK(gradient_gap(wrong, {random({3})}) > 0.1);
}
