// What training computes, against TensorFlow's traces (bit for bit) and the published numbers of small
// problems.
#include <doctest/doctest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "graph/error.h"
#include "graph/log.h"
#include "graph/runtime/session.h"
#include "ops/ops.h"
#include "tests/kernels/larger_gap.h"
#include "tests/summary/golden_json.h"
#include "tests/train/models.h"
#include "train/train.h"

using namespace runnel;

namespace {

Tensor floats(const Json& list, const Shape& shape) {
  Tensor out(DType::kFloat, shape);
  std::size_t i = 0;
  for (const double value : numbers(list)) out.mutable_values<float>()[i++] = static_cast<float>(value);
  return out;
}

// The largest difference of two float tensors.
double gap(const Tensor& a, const Tensor& b) {
  double out = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(b.elements()); ++i)
    out = larger_gap(out, std::abs(a.values<float>()[i] - b.values<float>()[i]));
  return out;
}

float value_of(Session& session, const Variable& variable) { return session.get<float>(variable); }

// Three steps of (w - 3)^2 from 0.
std::vector<float> three_steps(Optimizer& optimizer) {
  Graph g;
  const Variable w = variable(g, 0.0f, "w");
  const Operation train = optimizer.minimize(square(w - 3.0f));
  Session session(g);
  session.run(initialize_global_variables(g));
  std::vector<float> out;
  for (int i = 0; i < 3; ++i) {
    session.run(train);
    out.push_back(value_of(session, w));
  }
  return out;
}

// Fits W x + b to the points of TensorFlow's first tutorial, by the summed loss.
struct Tutorial {
  Graph graph;
  Variable w = variable(graph, 0.3f, "W"), b = variable(graph, -0.3f, "b");
  Output loss;
  Operation train;
  std::unique_ptr<Session> session;

  Tutorial(const std::vector<float>& xs, const std::vector<float>& ys, float rate) {
    const Output scaled = w * Tensor::vector(xs);
    loss = reduce_sum(square(scaled + b - Tensor::vector(ys)));
    train = GradientDescent(rate).minimize(loss);
    const Operation init = initialize_global_variables(graph);
    session = std::make_unique<Session>(graph);
    session->run(init);
  }
  float loss_now() { return session->run(loss).scalar<float>(); }
  void steps(int n) {
    while (n-- > 0) session->run(train);
  }
};

}  // namespace

TEST_CASE("ten steps of each optimizer equal TensorFlow's bit for bit, for both kinds of variables") {
  const Json golden = golden_json("optimizers/optimizers.json");
  for (const std::string& name : kOptimizerCases)
    for (const bool resource : {false, true}) {
      CAPTURE(name);
      CAPTURE(resource);
      Quadratic q(name, resource);
      const Operation init = initialize_global_variables(q.graph);
      Session session(q.graph);
      session.run(init);
      for (const Json& row :
           field(field(field(golden, "cases"), name.c_str()), "steps").list_value().values()) {
        CHECK(session.run(q.gradients[0].gradient.dense()) == floats(field(row, "grad"), {4}));
        CHECK(session.run(q.loss).scalar<float>() == static_cast<float>(number(field(row, "loss"))));
        session.run(q.train);
        CHECK(session.run(q.x) == floats(field(row, "x"), {4}));
        for (const Variable& slot : q.optimizer->variables()) {
          const Json& expected = field(row, slot.name().c_str());
          CAPTURE(slot.name());
          CHECK(session.run(slot) == floats(expected, slot.shape()));
        }
      }
      CHECK(session.get<std::int64_t>(q.step) == 10);
    }
}

TEST_CASE("the linear regression's losses and weights equal TensorFlow's bit for bit") {
  for (const bool resource : {false, true}) {
    CAPTURE(resource);
    const Json golden = golden_json(resource ? "linear_resource/linear.json" : "linear_ref/linear.json");
    Linear linear(resource);
    Session session(linear.graph);
    session.run(linear.init);
    const std::vector<double> losses = numbers(field(golden, "loss"));
    for (std::size_t i = 0; i < losses.size(); ++i) {
      CAPTURE(i);
      CHECK(session.run(linear.loss).scalar<float>() == static_cast<float>(losses[i]));
      session.run(linear.train);
    }
    CHECK(value_of(session, linear.weight) == static_cast<float>(number(field(golden, "final_W"))));
    CHECK(value_of(session, linear.biase) == static_cast<float>(number(field(golden, "final_b"))));
  }
}

TEST_CASE("three steps over gathered rows, one of them twice, give TensorFlow's tables and slots") {
  const Json golden = golden_json("optimizers/sparse.json");
  for (const std::string name : {"GradientDescent", "Momentum", "MomentumNesterov", "Adam"})
    for (const bool resource : {false, true}) {
      CAPTURE(name);
      CAPTURE(resource);
      Graph g;
      const Variable table =
          variable(g, floats(field(golden, "table0"), {5, 2}), "table", {.use_resource = resource});
      const Output rows = gather(table, Tensor::vector<std::int32_t>({3, 1, 3}));
      const Output loss = reduce_sum(floats(field(golden, "w"), {3, 2}) * square(rows));
      const std::unique_ptr<Optimizer> optimizer = make_optimizer(name);
      const Operation train = optimizer->minimize(loss);
      Session session(g);
      session.run(initialize_global_variables(g));
      for (const Json& row : field(field(golden, "cases"), name.c_str()).list_value().values()) {
        session.run(train);
        CHECK(gap(session.run(table), floats(field(row, "table"), {5, 2})) < 1e-6);
        if (const Variable slot = optimizer->get_slot(table, "momentum"))
          CHECK(gap(session.run(slot), floats(field(row, "table/Momentum"), {5, 2})) < 1e-6);
      }
    }
}

TEST_CASE("momentum leaves rows alone that no gradient was gathered of, however often it was used before") {
  Graph g;
  const Variable table = variable(g, Tensor::matrix<float>({{1}, {1}, {1}}), "table");
  const Output ids = placeholder<std::int32_t>(g, {kUnknown}, "ids");
  // Two gathers of one table: their rows are joined, not made whole.
  const Output loss = reduce_sum(gather(table, ids)) + reduce_sum(gather(table, ids));
  const Operation train = Momentum(0.5f, 0.5f).minimize(loss);
  Session session(g);
  session.run(initialize_global_variables(g));
  session.run(train, {{ids, Tensor::vector<std::int32_t>({0, 1})}});
  CHECK(session.run(table) == Tensor::matrix<float>({{0}, {0}, {1}}));
  session.run(train, {{ids, Tensor::vector<std::int32_t>({1})}});
  CHECK(session.run(table) == Tensor::matrix<float>({{0}, {-1.5f}, {1}}));
}

TEST_CASE("three steps on (w - 3)^2 give the numbers of case D1") {
  GradientDescent descent(0.1f);
  const std::vector<float> w = three_steps(descent);
  CHECK(w[0] == doctest::Approx(0.6));
  CHECK(w[1] == doctest::Approx(1.08));
  CHECK(w[2] == doctest::Approx(1.464));
}

TEST_CASE("slots have TensorFlow's names and are found by theirs") {
  Graph g;
  const Variable w = variable(g, 0.0f, "w");
  Adam adam(0.1f);
  Momentum momentum(0.1f, 0.9f);
  adam.minimize(square(w - 3.0f));
  momentum.minimize(square(w - 3.0f));
  CHECK(adam.get_slot_names() == std::vector<std::string>{"m", "v"});
  CHECK(adam.get_slot(w, "m").name() == "w/Adam");
  CHECK(adam.get_slot(w, "v").name() == "w/Adam_1");
  CHECK(momentum.get_slot(w, "momentum").name() == "w/Momentum");
  CHECK_FALSE(momentum.get_slot(w, "velocity"));
  std::string names;
  for (const Variable& variable : adam.variables()) names += variable.name() + " ";
  CHECK(names == "beta1_power beta2_power w/Adam w/Adam_1 ");
}

TEST_CASE("four points of the tutorial converge to the published numbers: case E3") {
  Tutorial t({1, 2, 3, 4}, {0, -1, -2, -3}, 0.01f);
  CHECK(t.loss_now() == doctest::Approx(23.66));
  t.steps(1);
  CHECK(value_of(*t.session, t.w) == doctest::Approx(-0.22));
  CHECK(value_of(*t.session, t.b) == doctest::Approx(-0.456));
  CHECK(t.loss_now() == doctest::Approx(4.018144));
  t.steps(999);
  CHECK(value_of(*t.session, t.w) == doctest::Approx(-0.9999969).epsilon(1e-6));
  CHECK(value_of(*t.session, t.b) == doctest::Approx(0.9999908).epsilon(1e-6));
  CHECK(t.loss_now() == doctest::Approx(5.69997e-11).epsilon(0.02));
}

TEST_CASE("five points diverge at that rate and stay finite at a smaller one: case E3") {
  const std::vector<float> xs{1, 2, 3, 4, 35}, ys{0, -1, -2, -3, -34};
  Tutorial fast(xs, ys, 0.01f), slow(xs, ys, 7.5e-4f);
  fast.steps(40);
  slow.steps(1000);
  CHECK_FALSE(std::isfinite(fast.loss_now()));
  CHECK(std::isfinite(slow.loss_now()));
}

TEST_CASE("minimize trains what it can and warns about the rest") {
  std::string warned;
  const ScopedLogSink sink([&](LogLevel, const std::string& line) { warned += line; });
  Graph g;
  const Variable w = variable(g, 0.0f, "w"), apart = variable(g, 1.0f, "apart");
  const Operation train = GradientDescent(0.1f).minimize(square(w - 3.0f, {.name = "loss"}));
  CHECK(warned.find("loss:0 has no gradient by some variables:") != std::string::npos);
  CHECK(warned.find("apart: no path") != std::string::npos);
  Session session(g);
  session.run(initialize_global_variables(g));
  session.run(train);
  CHECK(value_of(session, w) == doctest::Approx(0.6));
  CHECK(value_of(session, apart) == 1);
}

TEST_CASE("a conditional trains on the side that uses the variable and leaves it alone on the other") {
  for (const bool resource : {false, true}) {
    CAPTURE(resource);
    Graph g;
    const Output p = placeholder<bool>(g, {}, "p"), x = placeholder<float>(g, {}, "x");
    const Variable v = variable(g, 2.0f, "v", {.use_resource = resource});
    const Switched side = switch_tensor(x, p);
    const Output loss = merge({-side.if_false, side.if_true * v}).output;
    const Operation train = GradientDescent(0.1f).minimize(loss), adam = Adam(0.1f).minimize(loss);
    Session session(g);
    const auto step = [&](const Operation& op, bool choice) {
      session.run(initialize_global_variables(g));
      session.run(op, {{p, Tensor::scalar(choice)}, {x, Tensor::scalar(3.0f)}});
      return session.get<float>(v);
    };
    CHECK(step(train, true) == 2.0f - 0.1f * 3.0f);
    CHECK(step(train, false) == 2.0f);
    CHECK(step(adam, true) == doctest::Approx(1.9f));
    CHECK(step(adam, false) == 2.0f);
  }
}

TEST_CASE("takes a learning rate out of the graph, doubles, and grad_loss") {
  Graph g;
  const Output rate = placeholder<float>(g, {}, "rate");
  const Variable w = variable(g, 0.0, "w");
  const Operation train =
      GradientDescent(rate).minimize(square(w - 3.0), {.grad_loss = constant(g, Tensor::scalar(2.0))});
  Session session(g);
  session.run(initialize_global_variables(g));
  session.run(train, {{rate, Tensor::scalar(0.25f)}});
  CHECK(session.get<double>(w) == 3);  // 0 - 0.25 * 2 * (2 * -3)
}

TEST_CASE("refuses a loss that is no float, and a graph without variables") {
  Graph g;
  const Output whole = constant(g, Tensor::scalar(1), {.name = "whole"}),
               x = constant(g, Tensor::scalar(1.0f));
  CHECK_THROWS_WITH_AS(Adam().minimize(whole), "Adam: the loss whole:0 is int32, it must be floating",
                       InvalidArgument);
  CHECK_THROWS_WITH_AS(Adam().minimize(x), "Adam: the graph has no trainable variables", InvalidArgument);
}
