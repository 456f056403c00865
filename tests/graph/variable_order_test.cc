// Reads and writes of variables in one step (design: "Order of reads and writes"; cases E7, E8).
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <string>

#include "graph/error.h"
#include "graph/runtime/session.h"
#include "ops/arithmetic_ops.h"
#include "ops/array_ops.h"
#include "ops/state_ops.h"
#include "ops/variable_init.h"
#include "ops/variables.h"

using namespace runnel;

namespace {

Output read(const Variable& v) {
  return v.graph().add("ReadVariableOp", {v.parts().variable}, {{"dtype", v.dtype()}});
}

}  // namespace

TEST_CASE("a resource variable read before a write in the same step gives the old value") {
  Graph g;
  const Variable x = variable(g, 0.0f, "x", {.use_resource = true});
  const Output old = read(x);
  Output now;
  {
    ControlDependencies after(g, {Operation(old.node())});
    now = assign(x, old + 1.0f);
  }
  Session session(g);
  session.run(initialize_global_variables(g));
  for (int i = 0; i < 3; ++i) {
    const auto [before, after] = session.run({old, now});
    CHECK(before.scalar<float>() == static_cast<float>(i));
    CHECK(after.scalar<float>() == static_cast<float>(i + 1));
  }
}

TEST_CASE("a fetched ref variable is read at the end of the step") {
  Graph g;
  const Variable x = variable(g, 0.0f, "x");
  const Output old = x.value();
  Output now;
  {
    ControlDependencies after(g, {Operation(old.node())});
    now = assign(x, old + 1.0f);
  }
  Session session(g);
  session.run(initialize_global_variables(g));
  for (int i = 1; i <= 3; ++i) {
    const auto [before, after] = session.run({old, now});
    CHECK(before.scalar<float>() == static_cast<float>(i));
    CHECK(after.scalar<float>() == static_cast<float>(i));
  }
}

TEST_CASE("a reader without a path from a write sees the value before the step") {
  Graph g;
  const Variable x = variable(g, 1.0f, "x");
  const Output write = assign(x, 100.0f);
  const Output sum = x.value() + 2.0f;  // made after the write, but no path leads here
  Session session(g);
  session.run(initialize_global_variables(g));
  const auto [y, w] = session.run({sum, write});
  CHECK(y.scalar<float>() == 3);
  CHECK(session.run(x).scalar<float>() == 100);
}

TEST_CASE("a reader that waits for a write sees it") {
  Graph g;
  const Variable x = variable(g, 1.0f, "x");
  const Output write = assign(x, 100.0f);
  Output sum;
  {
    ControlDependencies after(g, {Operation(write.node())});
    sum = x.value() + 2.0f;
  }
  Session session(g);
  session.run(initialize_global_variables(g));
  CHECK(session.run(sum).scalar<float>() == 102);
}

TEST_CASE("independent writes happen in the order in which their nodes were made") {
  Graph g;
  const Variable x = variable(g, 1.0f, "x");
  const Output twice = assign(x, x * 2.0f), thrice = assign(x, x * 3.0f);
  const Operation both = group({Operation(thrice.node()), Operation(twice.node())});
  Session session(g);
  session.run(initialize_global_variables(g));
  session.run(both);
  CHECK(session.run(x).scalar<float>() == 3);  // both read 1
}

TEST_CASE("two variables can be swapped in one step") {
  for (const bool resource : {false, true}) {
    CAPTURE(resource);
    Graph g;
    const Variable a = variable(g, 1.0f, "a", {.use_resource = resource});
    const Variable b = variable(g, 2.0f, "b", {.use_resource = resource});
    const Output from_a = resource ? read(a) : a.value(), from_b = resource ? read(b) : b.value();
    const Operation swap = group({Operation(assign(a, from_b).node()), Operation(assign(b, from_a).node())});
    Session session(g);
    session.run(initialize_global_variables(g));
    session.run(swap);
    CHECK(session.run(a).scalar<float>() == 2);
    CHECK(session.run(b).scalar<float>() == 1);
  }
}

TEST_CASE("a value read from a resource variable survives a later write of the step") {
  Graph g;
  const Variable x = variable(g, Tensor::vector<float>({1, 2}), "x", {.use_resource = true});
  const Output old = read(x);
  Output late;
  {
    ControlDependencies after(g, {Operation(assign(x, Tensor::vector<float>({7, 7})).node())});
    late = identity(old + 0.0f) * 10.0f;
  }
  Session session(g);
  session.run(initialize_global_variables(g));
  CHECK(session.run(late) == Tensor::vector<float>({10, 20}));
  CHECK(session.run(x) == Tensor::vector<float>({7, 7}));
}

namespace {

// A question to x that waits for a write to y, and one to y that waits for a write to x: neither write may be
// seen, so that some value is copied.
std::array<Output, 2> crossed(Graph& g, const std::string& op) {
  Variable v[2];
  Output writes[2];
  for (const int k : {0, 1}) {
    v[k] = variable(g, Tensor::vector<float>({1, 2, 3}), k ? "y" : "x",
                    {.validate_shape = false, .use_resource = true});
    writes[k] = assign(v[k], Tensor::vector<float>({4}));
  }
  std::array<Output, 2> out;
  for (const int k : {0, 1}) {
    const ControlDependencies after(g, {Operation(writes[1 - k].node())});
    out[static_cast<std::size_t>(k)] = g.add(op, {v[k].parts().variable}, {});
  }
  return out;
}

}  // namespace

TEST_CASE("shapes asked for across two writes are those from before") {
  Graph g;
  const auto [x, y] = crossed(g, "VariableShape");
  Session session(g);
  session.run(initialize_global_variables(g));
  const auto [of_x, of_y] = session.run({x, y});
  CHECK(of_x == Tensor::vector<std::int32_t>({3}));
  CHECK(of_y == Tensor::vector<std::int32_t>({3}));
}

TEST_CASE("whether variables are initialized cannot be asked across two writes") {
  Graph g;
  const auto [x, y] = crossed(g, "VarIsInitializedOp");
  Session session(g);
  session.run(initialize_global_variables(g));
  CHECK_THROWS_WITH_AS(session.run({x, y}), doctest::Contains("have no order"), InvalidArgument);
}

TEST_CASE("initial values that depend on other variables come out right in one run, in any order") {
  for (const bool resource : {false, true}) {
    CAPTURE(resource);
    Graph g;
    const Variable a = variable(g, 42.0f, "a", {.use_resource = resource});
    const Variable b = variable(a.value() * 2.0f, "b", {.use_resource = resource});
    const Variable c = variable(b.value() + 1.0f, "c", {.use_resource = resource});
    Session session(g);
    session.run(initialize_global_variables(g));
    CHECK(session.run(b).scalar<float>() == 84);
    CHECK(session.run(c).scalar<float>() == 85);
  }
}

TEST_CASE("running one variable's initializer leaves another one's value alone") {
  Graph g;
  const Variable a = variable(g, 42.0f, "a");
  const Variable b = variable(a.value() * 2.0f, "b");
  Session session(g);
  session.run(initialize_global_variables(g));
  session.run(Operation(assign(a, 5.0f).node()));
  session.run(b.parts().initializer);
  CHECK(session.run(a).scalar<float>() == 5);
  CHECK(session.run(b).scalar<float>() == 10);
}
