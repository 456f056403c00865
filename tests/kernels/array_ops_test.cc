// Constants, placeholders, aliases, and ops that only order others: names and edges as TensorFlow makes them.
#include "ops/array_ops.h"

#include <doctest/doctest.h>

#include "graph/error.h"

using namespace runnel;

namespace {

std::vector<std::string> controls(const Operation& operation) {
  std::vector<std::string> out;
  for (const Node* node : operation.node().control_inputs()) out.push_back(node->name());
  return out;
}

}  // namespace

TEST_CASE("a constant has its value's shape and its op's name") {
  Graph g;
  const Output c = constant(g, Tensor::matrix<float>({{1, 2, 3}}));
  CHECK(c.name() == "Const:0");
  CHECK(c.shape() == Shape{1, 3});
  CHECK(constant(g, Tensor::scalar(1), {.name = "one"}).name() == "one:0");
  CHECK_THROWS_AS(constant(g, Tensor()), InvalidArgument);
}

TEST_CASE("a placeholder has the shape and dtype that were asked for") {
  Graph g;
  const Output p = placeholder<double>(g, {kUnknown, 64}, "pixels");
  CHECK(p.name() == "pixels:0");
  CHECK(p.dtype() == DType::kDouble);
  CHECK(p.shape() == Shape{kUnknown, 64});
  CHECK_FALSE(placeholder(g, DType::kString).shape().has_rank());
}

TEST_CASE("a default that cannot have the placeholder's shape is refused in full text") {
  Graph g;
  const Output c = constant(g, Tensor::vector<float>({1, 2}));
  CHECK(placeholder_with_default(c, {kUnknown}).shape() == Shape{kUnknown});
  CHECK_THROWS_WITH_AS(
      placeholder_with_default(c, {3}, {.name = "p"}),
      "PlaceholderWithDefault 'p': the default does not fit shape [3]: input is float[2] (Const:0)",
      InvalidArgument);
}

TEST_CASE("a group waits for its operations in order of name") {
  Graph g;
  const Operation b = no_op(g, {.name = "b"}), a = no_op(g, {.name = "a"});
  const Operation both = group({b, a});
  CHECK(both.name() == "group_deps");
  CHECK(controls(both) == std::vector<std::string>{"a", "b"});
  CHECK(group({a}, {.name = "init"}).name() == "init");
  CHECK_THROWS_AS(group(std::vector<Operation>{}), InvalidArgument);
}

TEST_CASE("a group over two devices has a node a device") {
  Graph g;
  const Operation a = no_op(g, {.name = "a"});
  const DeviceScope device(g, "/cpu:0");
  const Operation b = no_op(g, {.name = "b"});
  const Operation both = group({b, a});
  CHECK(controls(both) == std::vector<std::string>{"group_deps/NoOp", "group_deps/NoOp_1"});
  CHECK(g.find("group_deps/NoOp_1")->control_inputs() == std::vector<Node*>{&b.node()});
}

TEST_CASE("each of a tuple waits for all, and absent ones stay absent") {
  Graph g;
  const Output a = constant(g, Tensor::scalar(1.f), {.name = "a"}),
               b = constant(g, Tensor::scalar(2.f), {.name = "b"});
  const std::vector<Grad> out = tuple({b, Grad(), a});
  CHECK_FALSE(out[1]);
  CHECK(out[0].dense().name() == "tuple/control_dependency:0");
  CHECK(out[2].dense().name() == "tuple/control_dependency_1:0");
  CHECK(out[2].dense().node().input(0) == a);
  CHECK(controls(out[2].dense().node()) == std::vector<std::string>{"tuple/group_deps"});
  CHECK(controls(g.operation("tuple/group_deps")) == std::vector<std::string>{"a", "b"});
}
