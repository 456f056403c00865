// Joining, taking apart, gathering and stitching.
#include "ops/array_join_ops.h"

#include <doctest/doctest.h>

#include "graph/error.h"
#include "graph/runtime/session.h"
#include "ops/array_gather_ops.h"
#include "ops/array_ops.h"
#include "ops/array_shape_ops.h"
#include "ops/gradient_check.h"

using namespace runnel;

namespace {

Output ints(Graph& g, const Shape& shape, const std::vector<int>& values) {
  return constant(g, Tensor::from(shape, values));
}

}  // namespace

TEST_CASE("tensors are joined along the axis, empty ones too") {
  Graph g;
  const Output a = ints(g, {1, 2}, {1, 2}), b = ints(g, {1, 2}, {3, 4}), none = ints(g, {1, 0}, {});
  CHECK(evaluate(concat({a, b}, 0)) == Tensor::matrix<int>({{1, 2}, {3, 4}}));
  CHECK(evaluate(concat({a, none, b}, -1)) == Tensor::matrix<int>({{1, 2, 3, 4}}));
  CHECK(concat({a}, 0, {.name = "c"}).name() == "c/concat:0");
  const Output text = constant(g, Tensor::vector<std::string>({"x"}));
  CHECK(evaluate(concat({text, text}, 0)) == Tensor::vector<std::string>({"x", "x"}));
}

TEST_CASE("joins of tensors that do not fit are refused in full text") {
  Graph g;
  const Output a = placeholder<float>(g, {1, 2}, "a"), b = placeholder<float>(g, {2, 3}, "b");
  CHECK_THROWS_WITH_AS(
      concat({a, b}, 1, {.name = "c"}),
      "ConcatV2 'c': the shapes differ in more than dimension 1: values[0] is float[1,2] (a:0), "
      "values[1] is float[2,3] (b:0), axis is int32[] (c/axis:0)",
      InvalidArgument);
  CHECK_THROWS_AS(concat({a, a}, 2), InvalidArgument);
  CHECK_THROWS_AS(stack({a, b}), InvalidArgument);
  const Output scalar = constant(g, Tensor::scalar(1.f));
  CHECK_THROWS_AS(concat({scalar, scalar}, 0), InvalidArgument);
}

TEST_CASE("stacked tensors are taken apart again along every axis") {
  Graph g;
  const Output a = ints(g, {2}, {1, 2}), b = ints(g, {2}, {3, 4});
  CHECK(evaluate(stack({a, b})) == Tensor::matrix<int>({{1, 2}, {3, 4}}));
  CHECK(evaluate(stack({a, b}, {.axis = -1})) == Tensor::matrix<int>({{1, 3}, {2, 4}}));
  CHECK(evaluate(stack({a})) == Tensor::matrix<int>({{1, 2}}));
  for (const int axis : {0, 1, -1}) {
    CAPTURE(axis);
    const Outputs parts = unstack(stack({a, b}, {.axis = axis}), {.axis = axis});
    REQUIRE(parts.size() == 2);
    CHECK(evaluate(parts[1]) == Tensor::vector({3, 4}));
  }
  CHECK_THROWS_AS(unstack(placeholder<float>(g, {kUnknown})), InvalidArgument);
}

TEST_CASE("numbers stacked with scalars are a shape known in part") {
  Graph g;
  const Output u = placeholder<float>(g, {kUnknown});
  const Output dims = stack_scalars({size(u), 3});
  CHECK(dims.node().input(1).name() == "stack/1:0");
  CHECK(fill(dims, 0.f).shape() == Shape{kUnknown, 3});
  CHECK_THROWS_AS(stack_scalars({1, 2}), InvalidArgument);
}

TEST_CASE("splits are equal parts, or the sizes given") {
  Graph g;
  const Output x = ints(g, {4}, {1, 2, 3, 4});
  CHECK(evaluate(split(x, 2)[1]) == Tensor::vector({3, 4}));
  CHECK(evaluate(split_by(x, {1, -1})[1]) == Tensor::vector({2, 3, 4}));
  CHECK(evaluate(split_by(x, {0, 4})[0]).shape() == Shape{0});
  CHECK_THROWS_AS(split(x, 3), InvalidArgument);
  CHECK_THROWS_AS(split_by(x, {1, 2}), InvalidArgument);
  CHECK_THROWS_AS(split_by(x, {-1, -1}), InvalidArgument);
}

TEST_CASE("offsets say where each of the joined tensors starts") {
  Graph g;
  const Output a = ints(g, {2}, {2, 3}), b = ints(g, {2}, {2, 5}), c = ints(g, {2}, {4, 5});
  const Node& at = g.add("ConcatOffset", {constant(g, Tensor::scalar(-1)), Outputs{a, b, a}});
  CHECK(evaluate(at.output(0)) == Tensor::vector({0, 0}));
  CHECK(evaluate(at.output(2)) == Tensor::vector({0, 8}));
  const Node& bad = g.add("ConcatOffset", {constant(g, Tensor::scalar(1)), Outputs{a, c}});
  CHECK_THROWS_AS(evaluate(bad.output(1)), InvalidArgument);
}

TEST_CASE("rows are gathered along any axis and by any shape of indices") {
  Graph g;
  const Output x = ints(g, {2, 3}, {1, 2, 3, 4, 5, 6});
  CHECK(evaluate(gather(x, Tensor::vector({1, 0, 1}))) ==
        Tensor::matrix<int>({{4, 5, 6}, {1, 2, 3}, {4, 5, 6}}));
  CHECK(evaluate(gather(x, Tensor::vector({2, 0}), {.axis = -1})) == Tensor::matrix<int>({{3, 1}, {6, 4}}));
  CHECK(evaluate(gather(x, Tensor::scalar<std::int64_t>(1))) == Tensor::vector({4, 5, 6}));
  CHECK(evaluate(gather(x, Tensor::vector(std::vector<int>{}))).shape() == Shape{0, 3});
  const Output at = ints(g, {2, 1}, {2, 0}), axis = constant(g, Tensor::scalar(1));
  CHECK(evaluate(g.add("GatherV2", {x, at, axis}, {{"batch_dims", 1}})) == Tensor::matrix<int>({{3}, {4}}));
}

TEST_CASE("an index that is not there is refused when the step runs") {
  Graph g;
  const Output x = ints(g, {2}, {1, 2});
  const Output at = placeholder<std::int32_t>(g, {kUnknown}, "at");
  const Output y = gather(x, at, {.name = "y"});
  Session session(g);
  CHECK(session.run(y, {{at, Tensor::vector({1})}}) == Tensor::vector({2}));
  CHECK_THROWS_WITH_AS(session.run(y, {{at, Tensor::vector({0, 2})}}),
                       "GatherV2 'y': indices[1] = 2 is not in [0, 2)", InvalidArgument);
  CHECK_THROWS_AS(session.run(y, {{at, Tensor::vector({-1})}}), InvalidArgument);
}

TEST_CASE("stitched rows lie where their indices say, the last one winning") {
  Graph g;
  const Output at = ints(g, {2}, {0, 2}), more = ints(g, {}, {4});
  CHECK(evaluate(dynamic_stitch({at, more}, {ints(g, {2}, {1, 2}), ints(g, {}, {3})})) ==
        Tensor::vector({1, 0, 2, 0, 3}));
  CHECK(evaluate(dynamic_stitch({ints(g, {2}, {0, 0})}, {ints(g, {2}, {1, 2})})) == Tensor::vector({2}));
  CHECK(evaluate(dynamic_stitch({ints(g, {0}, {})}, {ints(g, {0, 3}, {})})).shape() == Shape{0, 3});
  CHECK_THROWS_AS(evaluate(dynamic_stitch({ints(g, {1}, {-1})}, {ints(g, {1}, {1})})), InvalidArgument);
  CHECK_THROWS_AS(dynamic_stitch({at}, {ints(g, {3}, {1, 2, 3})}), InvalidArgument);
}

TEST_CASE("gradients of joins are what finite differences give") {
  CHECK(gradient_gap([](const Outputs& in) { return concat(in, 1); }, {random({2, 3}), random({2, 1}, 2)}) <
        1e-6);
  CHECK(gradient_gap([](const Outputs& in) { return stack(in, {.axis = 1}); },
                     {random({2}), random({2}, 2)}) < 1e-6);
  const auto seventeen = [](const Outputs& in) { return concat(Outputs(17, in[0]), 0); };
  CHECK(gradient_gap(seventeen, {random({1, 2})}) < 1e-6);
  const auto stitch = [](const Outputs& in) {
    return dynamic_stitch({constant(in[0].graph(), Tensor::vector({1, 0}))}, {in[0]});
  };
  CHECK(gradient_gap(stitch, {random({2, 2})}) < 1e-6);
}
