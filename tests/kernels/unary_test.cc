// Functions of one tensor, and AddN.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>

#include "graph/error.h"
#include "ops/array_ops.h"
#include "ops/gradient_check.h"
#include "ops/math_ops.h"

using namespace runnel;

namespace {

using Op = Output (*)(Operand, OpOptions);

template <class T>
Tensor run1(Op op, std::initializer_list<T> x) {
  Graph g;
  return evaluate(op(constant(g, Tensor::vector<T>(x)), {}));
}

}  // namespace

TEST_CASE("functions of one number are right where they are easy") {
  CHECK(run1<float>(negative, {1, -2}) == Tensor::vector<float>({-1, 2}));
  CHECK(run1<float>(abs, {1, -2}) == Tensor::vector<float>({1, 2}));
  CHECK(run1<float>(sign, {3, -2, 0}) == Tensor::vector<float>({1, -1, 0}));
  CHECK(run1<float>(square, {3, -2}) == Tensor::vector<float>({9, 4}));
  CHECK(run1<float>(sqrt, {9, 0}) == Tensor::vector<float>({3, 0}));
  CHECK(run1<float>(rsqrt, {4, 0.25f}) == Tensor::vector<float>({0.5f, 2}));
  CHECK(run1<float>(reciprocal, {4, -0.5f}) == Tensor::vector<float>({0.25f, -2}));
  CHECK(run1<float>(exp, {0}) == Tensor::vector<float>({1}));
  CHECK(run1<float>(log, {1}) == Tensor::vector<float>({0}));
  CHECK(run1<float>(tanh, {0}) == Tensor::vector<float>({0}));
  CHECK(run1<float>(sigmoid, {0}) == Tensor::vector<float>({0.5f}));
}

TEST_CASE("the lowest integer is its own negative and magnitude") {
  CHECK(run1<std::int8_t>(abs, {-128, -5}) == Tensor::vector<std::int8_t>({-128, 5}));
  CHECK(run1<std::int8_t>(negative, {-128, -5}) == Tensor::vector<std::int8_t>({-128, 5}));
}

TEST_CASE("every element is the C library's, wherever it stands") {
  const Tensor x = random({101});
  Graph g;
  const Tensor e = evaluate(exp(constant(g, x)));
  for (std::size_t i = 0; i < 101; ++i) CHECK(e.values<double>()[i] == std::exp(x.values<double>()[i]));
}

TEST_CASE("derivatives of one-tensor functions are those of finite differences") {
  Tensor x = random({7});
  for (double& v : x.mutable_values<double>()) v = std::abs(v) + 0.5;  // inside of every domain
  for (const Op op : {Op(negative), Op(abs), Op(sign), Op(square), Op(sqrt), Op(rsqrt), Op(reciprocal),
                      Op(exp), Op(log), Op(tanh), Op(sigmoid)})
    CHECK(gradient_gap([op](const Outputs& in) { return op(in[0], {}); }, {x}) < 1e-6);
}

TEST_CASE("second derivatives are those of finite differences") {
  Tensor x = random({7});
  for (double& v : x.mutable_values<double>()) v = std::abs(v) + 0.5;  // away from 0
  for (const std::string op :
       {"SqrtGrad", "RsqrtGrad", "ReciprocalGrad", "InvGrad", "TanhGrad", "SigmoidGrad"}) {
    CAPTURE(op);
    const auto f = [op](const Outputs& in) -> Output { return in[0].graph().add(op, {in[0], in[1]}); };
    CHECK(gradient_gap(f, {x, random({7}, 2)}) < 1e-6);
  }
}

TEST_CASE("no elements in, no elements out") {
  Graph g;
  CHECK(evaluate(exp(constant(g, Tensor(DType::kFloat, {0, 3})))).shape() == Shape{0, 3});
}

TEST_CASE("add_n adds in order, and returns a single tensor as it is") {
  Graph g;
  const Output a = constant(g, Tensor::vector<float>({1e8f, 1})),
               b = constant(g, Tensor::vector<float>({1, 2}));
  const Output c = constant(g, Tensor::vector<float>({-1e8f, 3}));
  CHECK(evaluate(add_n({a, b, c})) == Tensor::vector<float>({0, 6}));
  CHECK(add_n({a}) == a);
  CHECK_THROWS_AS(add_n({}), InvalidArgument);
  CHECK(gradient_gap(
            [](const Outputs& in) {
              return add_n({in[0], in[1], in[0]});
            },
            {random({3}), random({3}, 2)}) < 1e-6);
}

TEST_CASE("add_n refuses tensors of different shapes with all of them") {
  Graph g;
  const Output a = placeholder<float>(g, {2}, "a"), b = placeholder<float>(g, {3}, "b");
  CHECK_THROWS_WITH_AS(
      add_n({a, b}),
      "AddN 'AddN': the inputs differ in shape: inputs[0] is float[2] (a:0), inputs[1] is float[3] (b:0)",
      InvalidArgument);
}
