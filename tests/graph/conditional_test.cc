// Straight conditionals: switches, merges, dead values and what they keep from running.
#include <doctest/doctest.h>

#include "graph/runtime/session.h"
#include "ops/arithmetic_ops.h"
#include "ops/array_movement_ops.h"
#include "ops/array_ops.h"
#include "ops/control_flow_ops.h"
#include "ops/math_ops.h"
#include "ops/state_ops.h"
#include "ops/variable_init.h"
#include "ops/variables.h"

using namespace runnel;

namespace {

struct Branches {
  Output data, predicate, off, on;
  explicit Branches(Graph& g) {
    data = placeholder<float>(g, {2}, "data");
    predicate = placeholder<bool>(g, {}, "predicate");
    const Node& fork = g.add("Switch", {data, predicate});
    off = fork.output(0);
    on = fork.output(1);
  }
};

Tensor pair(float a, float b) { return Tensor::vector<float>({a, b}); }

// `write` gives v, which holds zeros, the data.
void check_only_the_true_side_writes(Graph& g, const Branches& b, const Variable& v, const Output& write) {
  Session session(g);
  session.run(initialize_global_variables(g));
  session.run(Operation(write.node()), {{b.data, pair(3, 4)}, {b.predicate, Tensor::scalar(false)}});
  CHECK(session.run(v) == pair(0, 0));
  session.run(Operation(write.node()), {{b.data, pair(3, 4)}, {b.predicate, Tensor::scalar(true)}});
  CHECK(session.run(v) == pair(3, 4));
}

}  // namespace

TEST_CASE("a merge gives the side that the predicate chose, and which it was") {
  Graph g;
  const Branches b(g);
  const Node& merge = g.add("Merge", {Outputs{b.off * 2.0f, b.on + 10.0f}});
  Session session(g);
  for (const bool choice : {false, true}) {
    const auto [value, index] = session.run({merge.output(0), merge.output(1)},
                                            {{b.data, pair(1, 2)}, {b.predicate, Tensor::scalar(choice)}});
    CHECK(value == (choice ? pair(11, 12) : pair(2, 4)));
    CHECK(index.scalar<std::int32_t>() == (choice ? 1 : 0));
  }
}

TEST_CASE("a constant in a branch lives only when its pivot does") {
  Graph g;
  const Branches b(g);
  const Output no = identity(b.off), yes = identity(b.on);
  Output zero, one;
  {
    ControlDependencies side(g, {Operation(no.node())});
    zero = constant(g, pair(0, 0));
  }
  {
    ControlDependencies side(g, {Operation(yes.node())});
    one = constant(g, pair(1, 1));
  }
  const Node& merge = g.add("Merge", {Outputs{zero, one}});
  Session session(g);
  CHECK(session.run(merge.output(0), {{b.data, pair(5, 5)}, {b.predicate, Tensor::scalar(true)}}) ==
        pair(1, 1));
  CHECK(session.run(merge.output(0), {{b.data, pair(5, 5)}, {b.predicate, Tensor::scalar(false)}}) ==
        pair(0, 0));
}

TEST_CASE("a write behind a switch happens only on its side") {
  Graph g;
  const Branches b(g);
  const Variable v = variable(g, pair(0, 0), "v");
  const Output write = assign(v, b.on);
  check_only_the_true_side_writes(g, b, v, write);
}

TEST_CASE("fetching a value from the side that was not taken is an error with its name") {
  Graph g;
  const Branches b(g);
  const Output y = square(b.on, {.name = "y"});
  Session session(g);
  CHECK_THROWS_WITH_AS(session.run(y, {{b.data, pair(1, 2)}, {b.predicate, Tensor::scalar(false)}}),
                       "'y:0' has no value in this step: it lies on the side of a switch not taken",
                       InvalidArgument);
}

TEST_CASE("conditionals nest") {
  Graph g;
  const Branches b(g);
  const Output inner = placeholder<bool>(g, {}, "inner");
  const Node& gate = g.add("Switch", {inner, b.predicate});
  const Node& fork = g.add("Switch", {b.on, gate.output(1)});
  const Node& low = g.add("Merge", {Outputs{fork.output(0) + 1.0f, fork.output(1) + 2.0f}});
  const Node& high = g.add("Merge", {Outputs{b.off, low.output(0)}});
  Session session(g);
  const auto run = [&](bool outer, bool in) {
    return session.run(
        high.output(0),
        {{b.data, pair(0, 0)}, {b.predicate, Tensor::scalar(outer)}, {inner, Tensor::scalar(in)}});
  };
  CHECK(run(false, true) == pair(0, 0));
  CHECK(run(true, false) == pair(1, 1));
  CHECK(run(true, true) == pair(2, 2));
}

TEST_CASE("what only orders hands on that its side was not taken") {
  Graph g;
  const Branches b(g);
  const Output behind = identity(b.on * 2.0f);  // pure, and nobody reads it
  const Variable v = variable(g, pair(0, 0), "v");
  Output write;
  {
    ControlDependencies after(g, {Operation(behind.node())});
    write = assign(v, b.data);
  }
  check_only_the_true_side_writes(g, b, v, write);
}

TEST_CASE("what a merge's value only orders runs on both sides, and not where all the merge is dead") {
  Graph g;
  const Branches b(g);
  const Output outer = placeholder<bool>(g, {}, "outer");
  const Node& gate = g.add("Switch", {b.data, outer});
  const Node& fork = g.add("Switch", {gate.output(1), b.predicate});
  const Node& merge = g.add("Merge", {Outputs{-fork.output(0), square(fork.output(1))}});
  const Output behind = identity(merge.output(0));
  const Variable v = variable(g, pair(0, 0), "v");
  Output write;
  {
    ControlDependencies after(g, {Operation(behind.node())});
    write = assign_add(v, b.data);
  }
  Session session(g);
  session.run(initialize_global_variables(g));
  const auto run = [&](bool in, bool choice) {
    session.run(Operation(write.node()),
                {{b.data, pair(1, 2)}, {outer, Tensor::scalar(in)}, {b.predicate, Tensor::scalar(choice)}});
    return session.run(v);
  };
  CHECK(run(true, false) == pair(1, 2));
  CHECK(run(true, true) == pair(2, 4));
  CHECK(run(false, true) == pair(2, 4));
}

TEST_CASE("a loop is refused by name when it would run") {
  Graph g;
  const Output x = placeholder<float>(g, {}, "x");
  const Node& enter = g.add("Enter", {x}, {{"frame_name", "loop"}}, "enter");
  Session session(g);
  CHECK_THROWS_AS(session.run(enter.output(0), {{x, Tensor::scalar(1.0f)}}), Unimplemented);
}

TEST_CASE("a branch whose shapes do not fit is an error of the steps that run it alone") {
  Graph g;
  const Output x = placeholder<float>(g, Shape::unknown(), "x"), p = placeholder<bool>(g, {}, "p");
  const Switched sides = switch_tensor(x, p);
  const Output y =
      merge({sides.if_false, squeeze(sides.if_true, {.axes = {-1}, .name = "cut"})}).output * 2.0f;
  Session s(g);
  const Tensor no = Tensor::scalar(false), yes = Tensor::scalar(true);
  for (int again = 0; again < 2; ++again) {
    CHECK(s.run(y, {{x, pair(1, 2)}, {p, no}}) == pair(2, 4));
    CHECK_THROWS_WITH_AS(
        s.run(y, {{x, pair(1, 2)}, {p, yes}}),
        "Squeeze 'cut': dimension 0 is 2, and only a 1 can be squeezed out: input is float[2] "
        "(Switch:1)",
        InvalidArgument);
    CHECK(s.run(y, {{x, Tensor::matrix<float>({{1}, {2}})}, {p, yes}}) == pair(2, 4));
  }
}
