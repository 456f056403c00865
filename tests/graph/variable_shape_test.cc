// Variables whose shape stays unknown and changes between steps and inside of one.
#include <doctest/doctest.h>

#include "graph/error.h"
#include "graph/runtime/session.h"
#include "ops/ops.h"

namespace {

using namespace runnel;

// A variable without a fixed shape, and a place to initialise it from.
struct Loose {
  Graph g;
  Output initial = placeholder<float>(g, Shape::unknown(), "initial");
  Variable v;
  Session session{g};

  explicit Loose(bool resource) {
    v = variable(initial, "v", {.validate_shape = false, .use_resource = resource});
  }
  void start(const std::vector<float>& values) {
    session.run(initialize_global_variables(g), {{initial, Tensor::vector(values)}});
  }
};

const Tensor kThree = Tensor::vector<float>({5, 6, 7});

TEST_CASE("a reader behind an assignment of another shape sees that shape in the same step") {
  for (const std::size_t held : {std::size_t{2}, std::size_t{1000}}) {
    CAPTURE(held);
    Loose l(false);
    l.start(std::vector<float>(held, 1));
    const Output before = l.v.value() + 1.0f;
    const Output after = assign(l.v, kThree, {.validate_shape = false}) * 10.0f;
    const auto [b, a, fetched] = l.session.run({Fetch(before), Fetch(after), Fetch(l.v)});
    CHECK(b.shape() == Shape{static_cast<std::int64_t>(held)});
    CHECK(a == Tensor::vector<float>({50, 60, 70}));
    CHECK(fetched == kThree);
  }
}

TEST_CASE("a prepared call goes on when a variable takes another shape between two calls") {
  for (const bool resource : {false, true}) {
    CAPTURE(resource);
    Loose l(resource);
    l.start({1, 2});
    const Output twice = l.v.value() * 2.0f;
    Prepared call = l.session.prepare({.fetches = {twice}});
    CHECK(call()[0] == Tensor::vector<float>({2, 4}));
    l.start({1, 2, 3});
    CHECK(call()[0] == Tensor::vector<float>({2, 4, 6}));
    l.start({});
    CHECK(call()[0].shape() == Shape{0});
  }
}

TEST_CASE("what is made in a resource variable's shape follows it from call to call and write to write") {
  Loose l(true);
  const Output shape = l.g.add("VariableShape", {l.v.parts().variable}, {});
  const Output ones = fill(shape, 1.0f);
  CHECK_THROWS_WITH_AS(l.session.run(ones),
                       doctest::Contains("uninitialized value v, read by VariableShape 'VariableShape'"),
                       FailedPrecondition);
  l.start({1, 2});
  Prepared call = l.session.prepare({.fetches = {ones}});
  CHECK(call()[0] == Tensor::vector<float>({1, 1}));
  l.start({1, 2, 3});
  CHECK(call()[0] == Tensor::vector<float>({1, 1, 1}));
  const Operation done[] = {assign(l.v, Tensor::vector<float>({9})).node()};
  const ControlDependencies then(l.g, done);
  const Output after = l.g.add("VariableShape", {l.v.parts().variable}, {});
  const auto [before, now] = l.session.run({shape, after});
  CHECK(before == Tensor::vector<std::int32_t>({3}));
  CHECK(now == Tensor::vector<std::int32_t>({1}));
}

TEST_CASE("a fetched variable has the shape that the last write of the step gave it") {
  Loose l(false);
  l.start({1, 2, 3, 4});
  const Output first = assign(l.v, kThree, {.validate_shape = false});
  Output second;
  {
    const Operation done[] = {Operation(first.node())};
    const ControlDependencies then(l.g, done);
    second = assign(l.v, Tensor::vector<float>({9}), {.validate_shape = false});
  }
  const auto [v, a, b] = l.session.run({Fetch(l.v), Fetch(first), Fetch(second)});
  CHECK(v == Tensor::vector<float>({9}));
  CHECK(a == v);
  CHECK(b == v);
}

TEST_CASE("a resource variable without a fixed shape takes another one, a fixed shape is kept") {
  Loose l(true);
  l.start({1, 2});
  l.session.run(assign(l.v, kThree));
  CHECK(l.session.run(l.v) == kThree);
  const Variable fixed = variable(l.g, Tensor::vector<float>({1, 2}), "fixed", {.use_resource = true});
  CHECK_THROWS_WITH_AS(
      assign(fixed, kThree),
      "AssignVariableOp 'AssignVariableOp': the value's shape is not the variable's: resource is "
      "resource of shape [2] (fixed:0), value is float[3] (Const_1:0)",
      InvalidArgument);
}

}  // namespace
