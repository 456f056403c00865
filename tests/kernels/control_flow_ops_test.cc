// Conditionals: which side runs, what is dead, and gradients through them.
#include "ops/control_flow_ops.h"

#include <doctest/doctest.h>

#include "graph/error.h"
#include "graph/runtime/session.h"
#include "ops/array_ops.h"
#include "ops/gradients.h"
#include "ops/math_ops.h"

using namespace runnel;

TEST_CASE("merge takes the side that pred chose, and says which") {
  Graph g;
  const Output pred = placeholder<bool>(g, {}, "p");
  const Switched x = switch_tensor(constant(g, Tensor::scalar(3.0f)), pred);
  const Merged m = merge({x.if_false * 2.0f, x.if_true * 10.0f});
  Session s(g);
  const auto [yes, first] = s.run({m.output, m.value_index}, {{pred, Tensor::scalar(true)}});
  CHECK(yes.scalar<float>() == 30);
  CHECK(first.scalar<std::int32_t>() == 1);
  CHECK(s.run(m.output, {{pred, Tensor::scalar(false)}}).scalar<float>() == 6);
}

TEST_CASE("a gradient flows through the side that was taken alone") {
  Graph g;
  const Output pred = placeholder<bool>(g, {}, "p");
  const Output x = constant(g, Tensor::scalar(3.0f));
  const Switched both = switch_tensor(x, pred);
  const Grads d = gradients({merge({both.if_false * 2.0f, both.if_true * both.if_true}).output}, {x});
  Session s(g);
  CHECK(s.run(d[0].dense(), {{pred, Tensor::scalar(true)}}).scalar<float>() == 6);
  CHECK(s.run(d[0].dense(), {{pred, Tensor::scalar(false)}}).scalar<float>() == 2);
}

TEST_CASE("merging keeps the dimensions in which all inputs agree") {
  Graph g;
  const Output a = placeholder<float>(g, {2, 3}), b = placeholder<float>(g, {2, 4}),
               c = placeholder<float>(g, {2});
  CHECK(merge({a, b}).output.shape() == Shape{2, kUnknown});
  CHECK_FALSE(merge({a, c}).output.shape().has_rank());
  CHECK(merge({a, b}).value_index.shape() == Shape{});
}

TEST_CASE("a pred that is no scalar is refused in full text") {
  Graph g;
  const Output x = placeholder<float>(g, {}, "x"), p = placeholder<bool>(g, {2}, "p");
  CHECK_THROWS_WITH_AS(
      switch_tensor(x, p),
      "Switch 'Switch': pred has rank 1, not 0: data is float[] (x:0), pred is bool[2] (p:0)",
      InvalidArgument);
  CHECK_THROWS_AS(merge({}), InvalidArgument);
}
