// Shapes as tensors, and tensors made from shapes.
#include "ops/array_shape_ops.h"

#include <doctest/doctest.h>

#include "graph/error.h"
#include "graph/runtime/session.h"
#include "ops/array_join_ops.h"
#include "ops/array_movement_ops.h"
#include "ops/array_ops.h"
#include "ops/gradient_check.h"

using namespace runnel;

TEST_CASE("what the graph knows of a shape is a constant") {
  Graph g;
  const Output x = placeholder<float>(g, {4, 3}), u = placeholder<float>(g, {kUnknown, 3});
  CHECK(shape(x).node().op() == "Const");
  CHECK(shape(u).node().op() == "Shape");
  CHECK(size(x).node().op() == "Const");
  CHECK(size(u).node().op() == "Size");
  CHECK(rank(u).node().op() == "Const");
  CHECK(rank(placeholder<float>(g)).node().op() == "Rank");
  CHECK(evaluate(shape(x, {.out_type = DType::kInt64})) == Tensor::vector<std::int64_t>({4, 3}));
}

TEST_CASE("a shape that is fed is known when the step runs") {
  Graph g;
  const Output u = placeholder<float>(g, Shape::unknown(), "u");
  const Output doubled = reshape(u, stack_scalars({size(u), 1}));
  Session session(g);
  const Feed feed{u, Tensor::zeros(DType::kFloat, {2, 0, 5})}, six{u, Tensor::zeros(DType::kFloat, {2, 3})};
  CHECK(session.run(shape(u), {feed}) == Tensor::vector({2, 0, 5}));
  CHECK(session.run(size(u), {feed}) == Tensor::scalar(0));
  CHECK(session.run(rank(u), {feed}) == Tensor::scalar(3));
  CHECK(session.run(shape_n({u, u})[1], {six}) == Tensor::vector({2, 3}));
  CHECK(session.run(doubled, {six}).shape() == Shape{6, 1});
}

TEST_CASE("small zeros and ones are constants, large ones are filled") {
  Graph g;
  CHECK(zeros<float>(g, {2, 3}).node().op() == "Const");
  const Output large = ones<std::int32_t>(g, {2000});
  CHECK(large.name() == "ones:0");
  CHECK(large.node().input(0).name() == "ones/shape_as_tensor:0");
  CHECK(evaluate(large).values<std::int32_t>()[1999] == 1);
  CHECK(evaluate(zeros<std::string>(g, {2})) == Tensor::vector<std::string>({"", ""}));
  CHECK(evaluate(ones<bool>(g, {1})) == Tensor::vector<bool>(std::initializer_list<bool>{true}));
  CHECK_THROWS_AS(zeros<float>(g, {kUnknown}), InvalidArgument);
  CHECK_THROWS_AS(ones<std::string>(g, {1}), InvalidArgument);
}

TEST_CASE("tensors like another have its shape when the step runs") {
  Graph g;
  const Output u = placeholder<double>(g, {kUnknown}, "u");
  const Output one = ones_like(u);
  CHECK(one.node().input(0).name() == "ones_like/Shape:0");
  Session session(g);
  CHECK(session.run(one, {{u, Tensor::vector<double>({5, 6})}}) == Tensor::vector<double>({1, 1}));
  CHECK(session.run(zeros_like(u), {{u, Tensor::vector<double>({5, 6})}}) == Tensor::vector<double>({0, 0}));
  CHECK(session.run(g.add("OnesLike", {u}).output(0), {{u, Tensor::zeros(DType::kDouble, {0})}}).shape() ==
        Shape{0});
}

TEST_CASE("a fill of a negative dimension is refused in full text") {
  Graph g;
  CHECK(evaluate(fill(constant(g, Tensor::vector({2})), 3.f)) == Tensor::vector<float>({3, 3}));
  const Output dims = constant(g, Tensor::vector({-1}), {.name = "dims"});
  CHECK_THROWS_WITH_AS(
      fill(dims, 1.f, {.name = "f"}),
      "Fill 'f': dims holds a dimension of -1: dims is int32[1] (dims:0), value is float[] (f/value:0)",
      InvalidArgument);
}

TEST_CASE("a range counts up and down and stops before its limit") {
  Graph g;
  const Output zero = constant(g, Tensor::scalar(0));
  CHECK(evaluate(range(zero, 5, 2)) == Tensor::vector({0, 2, 4}));
  CHECK(evaluate(range(constant(g, Tensor::scalar(5)), 0, -2)) == Tensor::vector({5, 3, 1}));
  CHECK(evaluate(range(zero, 0)).shape() == Shape{0});
  const Tensor tenths = evaluate(range(constant(g, Tensor::scalar(0.f)), 10.f, 0.1f));
  REQUIRE(tenths.shape() == Shape{100});
  CHECK(tenths.values<float>()[98] == 9.800000190734863f);  // TensorFlow's bits
  CHECK(tenths.values<float>()[99] == 9.90000057220459f);
}

TEST_CASE("a range that never ends is refused") {
  Graph g;
  const Output five = constant(g, Tensor::scalar(5));
  CHECK_THROWS_AS(range(five, 0, 1), InvalidArgument);
  CHECK_THROWS_AS(range(five, 9, 0), InvalidArgument);
  const Output low = constant(g, Tensor::scalar(INT32_MIN));
  CHECK(range(low, INT32_MAX, INT32_MAX).shape() == Shape{3});
  CHECK(evaluate(range(low, INT32_MAX, INT32_MAX)) == Tensor::vector({INT32_MIN, -1, INT32_MAX - 1}));
}

TEST_CASE("the axes to sum a gradient over are TensorFlow's") {
  struct Case {
    std::vector<int> a, b, to_a, to_b;
  };
  const std::vector<Case> cases{{{1, 3}, {1, 3}, {}, {}},        {{1, 3}, {2, 1}, {0}, {1}},
                                {{}, {2, 3}, {0, 1}, {}},        {{3}, {1, 3}, {0}, {0}},
                                {{1, 1}, {1}, {0, 1}, {0, 1}},   {{0, 1}, {1, 3}, {1}, {0}},
                                {{5, 1, 3}, {1, 3}, {1}, {0, 1}}};
  for (const Case& c : cases) {
    Graph g;
    const Node& axes =
        g.add("BroadcastGradientArgs", {constant(g, Tensor::vector(c.a)), constant(g, Tensor::vector(c.b))});
    CAPTURE(Tensor::vector(c.a).text());
    CHECK(evaluate(axes.output(0)) == Tensor::vector(c.to_a));
    CHECK(evaluate(axes.output(1)) == Tensor::vector(c.to_b));
  }
}

TEST_CASE("every element of a fill passes its gradient to the value") {
  const auto filled = [](const Outputs& in) {
    return fill(constant(in[0].graph(), Tensor::vector({2, 3})), in[0]);
  };
  CHECK(gradient_gap(filled, {random({})}) < 1e-6);
}
