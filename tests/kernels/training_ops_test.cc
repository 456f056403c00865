// The optimizers' update ops against ten recorded steps of TensorFlow's, bit for bit, for both kinds of
// variable.
#include "ops/training_ops.h"

#include <doctest/doctest.h>

#include "graph/error.h"
#include "graph/runtime/session.h"
#include "tests/kernels/raw_variable.h"
#include "tests/summary/golden_json.h"

using namespace runnel;

namespace {

Tensor floats(const Json& list) {
  std::vector<float> out;
  for (const double x : numbers(list)) out.push_back(static_cast<float>(x));
  return Tensor::vector(out);
}
Output scalar(Graph& g, double value) { return constant(g, Tensor::scalar(static_cast<float>(value))); }
float param(const Json& c, const char* name) {
  return static_cast<float>(number(field(field(c, "params"), name)));
}

// The variable x, its slots, and the op that makes one step of the case with gradient `grad`.
struct Case {
  Case(const char* name, bool resource)
      : all(golden_json("optimizers/optimizers.json")), of(field(field(all, "cases"), name)) {
    x = raw_variable(g, floats(field(all, "x0")), resource, "x");
    grad = placeholder<float>(g, {4}, "grad");
    for (const char* slot : {"x/Momentum", "x/Adam", "x/Adam_1"})
      if (has_field(field(of, "initial"), slot))
        slots.push_back({slot, raw_variable(g, floats(field(field(of, "initial"), slot)), resource, slot)});
  }
  // Checks all steps; `feeds` gives what else a step is fed, from the state before it.
  template <class Feeds>
  void check(const Operation& step, Feeds feeds) {
    Session s(g);
    s.run(x.parts().initializer);
    for (const auto& [name, slot] : slots) s.run(slot.parts().initializer);
    const Json* before = &field(of, "initial");
    for (const Json& row : field(of, "steps").list_value().values()) {
      std::vector<Feed> fed = feeds(*before);
      fed.push_back({grad, floats(field(row, "grad"))});
      s.run(std::vector<Fetch>{step}, fed);
      CHECK(s.run(x) == floats(field(row, "x")));
      for (const auto& [name, slot] : slots) CHECK(s.run(slot) == floats(field(row, name)));
      before = &row;
    }
  }
  Json all;
  const Json& of;
  Graph g;
  Variable x;
  Output grad;
  std::vector<std::pair<const char*, Variable>> slots;
};

const auto kNothing = [](const Json&) { return std::vector<Feed>(); };

}  // namespace

TEST_CASE("gradient descent makes TensorFlow's ten steps") {
  for (const bool resource : {false, true}) {
    CAPTURE(resource);
    Case c("GradientDescent", resource);
    c.check(apply_gradient_descent(c.x, scalar(c.g, param(c.of, "learning_rate")), c.grad), kNothing);
  }
}

TEST_CASE("momentum makes TensorFlow's ten steps, with and without Nesterov's look ahead") {
  for (const bool nesterov : {false, true})
    for (const bool resource : {false, true}) {
      CAPTURE(nesterov);
      CAPTURE(resource);
      Case c(nesterov ? "MomentumNesterov" : "Momentum", resource);
      c.check(apply_momentum(c.x, c.slots[0].second, scalar(c.g, param(c.of, "learning_rate")), c.grad,
                             scalar(c.g, param(c.of, "momentum")), {.use_nesterov = nesterov}),
              kNothing);
    }
}

TEST_CASE("Adam makes TensorFlow's ten steps, for two sets of numbers") {
  for (const char* name : {"Adam", "AdamOther"})
    for (const bool resource : {false, true}) {
      CAPTURE(name);
      CAPTURE(resource);
      Case c(name, resource);
      const Output power1 = placeholder<float>(c.g, {}), power2 = placeholder<float>(c.g, {});
      const AdamScalars scalars{power1,
                                power2,
                                scalar(c.g, param(c.of, "learning_rate")),
                                scalar(c.g, param(c.of, "beta1")),
                                scalar(c.g, param(c.of, "beta2")),
                                scalar(c.g, param(c.of, "epsilon"))};
      c.check(apply_adam(c.x, c.slots[0].second, c.slots[1].second, scalars, c.grad),
              [&](const Json& before) {
                return std::vector<Feed>{{power1, floats(field(before, "beta1_power")).reshaped({})},
                                         {power2, floats(field(before, "beta2_power")).reshaped({})}};
              });
    }
}

TEST_CASE("Adam with Nesterov's look ahead, worked by hand in double") {
  Graph g;
  const Variable x = raw_variable(g, Tensor::vector<double>({1}), false, "x");
  const Variable m = raw_variable(g, Tensor::vector<double>({0}), false, "m");
  const Variable v = raw_variable(g, Tensor::vector<double>({0}), false, "v");
  const auto of = [&](double value) { return constant(g, Tensor::scalar(value)); };
  const AdamScalars scalars{of(0.5), of(0.75), of(1), of(0.5), of(0.75), of(0)};
  const Operation step =
      apply_adam(x, m, v, scalars, constant(g, Tensor::vector<double>({4})), {.use_nesterov = true});
  Session s(g);
  for (const Variable& one : {x, m, v}) s.run(one.parts().initializer);
  s.run(step);
  // m = 4 / 2, v = 16 / 4, alpha = sqrt(1/4) / (1/2) = 1; x moves by (4 / 2 + 2 / 2) / sqrt(4).
  CHECK(s.run(m) == Tensor::vector<double>({2}));
  CHECK(s.run(v) == Tensor::vector<double>({4}));
  CHECK(s.run(x) == Tensor::vector<double>({-0.5}));
}

TEST_CASE("momentum on rows, worked by hand: other rows stay, and a row named twice makes two steps") {
  for (const bool nesterov : {false, true})
    for (const bool resource : {false, true})
      for (const bool wide : {false, true}) {
        CAPTURE(nesterov);
        CAPTURE(resource);
        Graph g;
        const Variable x = raw_variable(g, Tensor::matrix<double>({{1, 2}, {3, 4}, {5, 6}}), resource, "x");
        const Variable a = raw_variable(g, Tensor::matrix<double>({{1, 1}, {1, 1}, {2, 4}}), resource, "a");
        const Output grad = constant(g, Tensor::matrix<double>({{1, 2}, {8, 4}, {0, 0}}));
        const Output rows = wide ? constant(g, Tensor::vector<std::int64_t>({2, 0, 2}))
                                 : constant(g, Tensor::vector<std::int32_t>({2, 0, 2}));
        const auto of = [&](double value) { return constant(g, Tensor::scalar(value)); };
        const Operation step =
            sparse_apply_momentum(x, a, of(0.25), grad, rows, of(0.5), {.use_nesterov = nesterov});
        Session s(g);
        for (const Variable& one : {x, a}) s.run(one.parts().initializer);
        s.run(step);
        CHECK(s.run(a) == Tensor::matrix<double>({{8.5, 4.5}, {1, 1}, {1, 2}}));
        CHECK(s.run(x) == (nesterov ? Tensor::matrix<double>({{-2.0625, 0.4375}, {3, 4}, {4.375, 4.75}})
                                    : Tensor::matrix<double>({{-1.125, 0.875}, {3, 4}, {4.25, 4.5}})));
      }
}

TEST_CASE("momentum on rows refuses rows that are not there before it writes, and takes none") {
  Graph g;
  const Variable x = raw_variable(g, Tensor::matrix<float>({{1}, {2}}), false, "x");
  const Variable a = raw_variable(g, Tensor::matrix<float>({{0}, {0}}), false, "a");
  const Output one = constant(g, Tensor::scalar(1.0f));
  const Output rows = placeholder<std::int32_t>(g, {kUnknown}, "rows"),
               grad = placeholder<float>(g, {kUnknown, 1});
  const Operation step = sparse_apply_momentum(x, a, one, grad, rows, one);
  Session s(g);
  for (const Variable& variable : {x, a}) s.run(variable.parts().initializer);
  CHECK_THROWS_WITH_AS(
      s.run(step, {{rows, Tensor::vector<int>({0, 2})}, {grad, Tensor::matrix<float>({{1}, {1}})}}),
      "SparseApplyMomentum 'SparseApplyMomentum': indices[1] = 2 is not in [0, 2)", InvalidArgument);
  s.run(step, {{rows, Tensor::vector(std::vector<int>{})}, {grad, Tensor::zeros(DType::kFloat, {0, 1})}});
  CHECK(s.run(x) == Tensor::matrix<float>({{1}, {2}}));
  CHECK_THROWS_AS(sparse_apply_momentum(x, a, one, constant(g, Tensor::matrix<float>({{1, 2}})), rows, one),
                  InvalidArgument);
}

TEST_CASE("updates refuse a gradient of another shape, and take one without elements") {
  Graph g;
  const Variable x = raw_variable(g, Tensor::vector<float>({1, 2}), false, "x");
  const Output rate = constant(g, Tensor::scalar(0.5f));
  CHECK_THROWS_WITH_AS(
      apply_gradient_descent(x, rate, constant(g, Tensor::scalar(1.0f), {.name = "d"})),
      "ApplyGradientDescent 'ApplyGradientDescent': shapes differ: var is float[2] (x:0), alpha is "
      "float[] (Const:0), delta is float[] (d:0)",
      InvalidArgument);
  const Variable none = raw_variable(g, Tensor::zeros(DType::kFloat, {0}), true, "none");
  const Operation step = apply_gradient_descent(none, rate, constant(g, Tensor::zeros(DType::kFloat, {0})));
  Session s(g);
  s.run(none.parts().initializer);
  s.run(step);
  CHECK(s.run(none).elements() == 0);
}
