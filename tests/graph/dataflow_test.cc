// Graphs: names, scopes, control edges, devices, collections, seeds, finalizing (behaviours 2, formats 6.1
// and 9.1).
#include "graph/dataflow.h"

#include <doctest/doctest.h>

#include "graph/log.h"
#include "graph/runtime/session.h"
#include "ops/arithmetic_ops.h"
#include "ops/array_ops.h"
#include "ops/math_ops.h"

using namespace runnel;

namespace {

Output zero(Graph& g, std::string_view name = "") {
  return g.add("Const", {}, {{"value", Tensor::scalar(0.0f)}, {"dtype", DType::kFloat}}, name);
}

std::string name(const Output& output) { return output.node().name(); }

std::vector<std::string> controls(const Output& output) {
  std::vector<std::string> out;
  for (const Node* node : output.node().control_inputs()) out.push_back(node->name());
  return out;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a taken name gets the next free number, whatever its case") {
  Graph g;
  CHECK(name(zero(g, "X")) == "X");
  CHECK(name(zero(g, "x")) == "x_1");
  CHECK(name(zero(g, "x_1")) == "x_1_1");
  CHECK(name(zero(g, "x")) == "x_2");
  CHECK(name(zero(g)) == "Const");
  CHECK(name(zero(g)) == "Const_1");
}

TEST_CASE("scopes are made unique, nest, re-open with a slash and reset with nothing") {
  Graph g;
  {
    NameScope s(g, "s");
    CHECK(name(zero(g, "a")) == "s/a");
    NameScope inner(g, "t");
    CHECK(name(zero(g, "a")) == "s/t/a");
    NameScope root(g, "");
    CHECK(name(zero(g, "a")) == "a");
  }
  NameScope again(g, "s");
  CHECK(again.name() == "s_1/");
  NameScope reopened(g, "s/");
  CHECK(name(zero(g, "a")) == "s/a_1");
}

TEST_CASE("a scope takes its name from the ops, and a name with a slash is taken as it is") {
  Graph g;
  { NameScope s(g, "s"); }
  CHECK(name(zero(g, "s")) == "s_1");
  CHECK(name(zero(g, "s/exact/")) == "s/exact");
  CHECK_THROWS_WITH_AS(zero(g, "s/exact/"), "Const 's/exact': the graph has a node of this name already",
                       AlreadyExists);
}

TEST_CASE("names that TensorFlow refuses are refused, and leave no trace") {
  Graph g;
  CHECK_THROWS_AS(zero(g, "a b"), InvalidArgument);
  CHECK_THROWS_AS(zero(g, "_a"), InvalidArgument);
  CHECK_THROWS_AS(NameScope scope(g, "has blank"), InvalidArgument);
  CHECK(g.size() == 0);
  NameScope s(g, "s");
  CHECK(name(zero(g, "_a")) == "s/_a");
}

TEST_CASE("a refused node leaves its name free") {
  Graph g;
  const Output x = placeholder<float>(g, {2, 3}, "x");
  CHECK_THROWS_AS(g.add("MatMul", {x, x}, {}, "m"), InvalidArgument);
  CHECK(name(g.add("MatMul", {x, x}, {{"transpose_b", true}}, "m")) == "m");
}

TEST_CASE("control dependencies reach the nodes made inside, nest, and can be cleared") {
  Graph g;
  const Output a = zero(g, "a"), b = zero(g, "b");
  ControlDependencies outer(g, {Operation(a.node())});
  CHECK(controls(zero(g)) == Names{"a"});
  {
    ControlDependencies inner(g, {Operation(b.node())});
    CHECK(controls(zero(g)) == Names{"b", "a"});
    ControlDependencies none(g, ControlDependencies::Clear{});
    CHECK(controls(zero(g)).empty());
  }
  CHECK(controls(zero(g)) == Names{"a"});
}

TEST_CASE("an input that is waited for, or was made inside, implies the control edge") {
  Graph g;
  const Output a = zero(g, "a"), b = zero(g, "b");
  ControlDependencies scope(g, {Operation(a.node()), Operation(b.node())});
  const Output uses_a = square(a);
  CHECK(controls(uses_a) == Names{"b"});
  CHECK(controls(square(uses_a)).empty());
}

TEST_CASE("devices merge with the inner one winning, and short forms are written out") {
  Graph g;
  DeviceScope outer(g, "/job:ps/task:1");
  CHECK(zero(g).node().device() == "/job:ps/task:1");
  {
    DeviceScope inner(g, "/cpu:0");
    CHECK(zero(g).node().device() == "/job:ps/task:1/device:CPU:0");
  }
  CHECK_THROWS_AS(DeviceScope scope(g, "/planet:mars"), InvalidArgument);
  CHECK_THROWS_AS(DeviceScope scope(g, "/cpu:x"), InvalidArgument);
}

TEST_CASE("colocation writes the class and takes the device") {
  Graph g;
  Output there;
  {
    DeviceScope device(g, "/cpu:0");
    there = zero(g, "there");
  }
  ColocateWith with(there.node());
  const Output here = zero(g);
  CHECK(here.node().attr("_class")->text() == "[\"loc:@there\"]");
  CHECK(here.node().device() == "/device:CPU:0");
}

TEST_CASE("a collection keeps order, is copied out, and an unknown one is empty and not made") {
  Graph g;
  g.add_to_collection("c", std::int64_t{1});
  g.add_to_collection("c", std::string("two"));
  Collection copy = g.collection("c");
  REQUIRE(copy.size() == 2);
  CHECK(std::get<std::string>(copy[1]) == "two");
  copy.clear();
  CHECK(g.collection("c").size() == 2);
  CHECK(g.collection("d").empty());
  CHECK(g.collection_keys() == Names{"c"});
}

TEST_CASE("a finalized graph refuses nodes and collections, and can be opened again") {
  Graph g;
  g.finalize();
  CHECK_THROWS_AS(zero(g), FailedPrecondition);
  CHECK_THROWS_AS(g.add_to_collection("c", std::int64_t{1}), FailedPrecondition);
  g.unfinalize();
  CHECK(name(zero(g)) == "Const");
}

TEST_CASE("looking up says what is near and how tensors are named") {
  Graph g;
  {
    NameScope s(g, "layer");
    zero(g, "weights");
  }
  CHECK(g.output("layer/weights:0").node().name() == "layer/weights");
  CHECK_THROWS_WITH_AS(g.operation("weights"),
                       "the graph has no operation 'weights'; did you mean 'layer/weights'?", NotFound);
  zero(g, "aa");
  zero(g, "loss");
  const auto near = [&](const char* wanted, const std::string& name) {
    const std::string text = cat("the graph has no operation '", wanted, "'; did you mean '", name, "'?");
    CHECK_THROWS_WITH_AS(g.operation(wanted), text.c_str(), NotFound);
  };
  near("a", "aa");
  near("aaa", "aa");
  near("losss", "loss");
  near("lsos", "loss");
  near("lost", "loss");
  CHECK_THROWS_WITH_AS(g.operation("bb"), "the graph has no operation 'bb'", NotFound);
  CHECK_THROWS_WITH_AS(g.operation(""), "the graph has no operation ''", NotFound);
  CHECK_THROWS_WITH_AS(g.output("layer/weights:1"),
                       "'layer/weights:1': operation 'layer/weights' has only 1 outputs", NotFound);
  CHECK_THROWS_AS(g.output("layer/weights"), InvalidArgument);
  CHECK_THROWS_AS(g.operation("layer/weights:0"), InvalidArgument);
}

TEST_CASE("seeds follow TensorFlow's table, and without an op seed the name counts") {
  Graph none, seeded({.seed = 5});
  CHECK(none.seeds(std::nullopt, "a") == std::pair<std::int64_t, std::int64_t>{0, 0});
  CHECK(none.seeds(7, "a") == std::pair<std::int64_t, std::int64_t>{87654321, 7});
  CHECK(seeded.seeds(7, "a") == std::pair<std::int64_t, std::int64_t>{5, 7});
  CHECK(seeded.seeds(-1, "a").second == 2147483646);
  CHECK(Graph({.seed = 0}).seeds(2147483647, "a") == std::pair<std::int64_t, std::int64_t>{0, 2147483647});
  CHECK(seeded.seeds(std::nullopt, "a") != seeded.seeds(std::nullopt, "b"));
  // FNV-1a of "a" is 0xaf63dc4c8601ec8c.
  CHECK(seeded.seeds(std::nullopt, "a").second ==
        static_cast<std::int64_t>(0xaf63dc4c8601ec8cull % 2147483647));
}

TEST_CASE("mixing tensors of two graphs is refused with the input's name") {
  Graph g, other;
  const Output a = zero(g, "a"), b = zero(other, "b");
  CHECK_THROWS_WITH_AS(add(a, b), "AddV2 'Add': input b:0 is of another graph", InvalidArgument);
}

TEST_CASE("dtypes that differ are refused at the line that mixed them") {
  Graph g;
  const Output a = placeholder<float>(g, {2, 3}, "a"), b = placeholder<double>(g, {2, 3}, "b");
  const int line = __LINE__ + 2;
  try {
    add(a, b);
    FAIL("nothing was thrown");
  } catch (const InvalidArgument& error) {
    CHECK(error.message() ==
          "AddV2 'Add': inputs differ in dtype: x is float[2,3] (a:0), y is double[2,3] (b:0)");
    CHECK(std::string(error.where().file).ends_with("dataflow_test.cc"));
    CHECK(error.where().line == line);
  }
}

TEST_CASE("the default graph can be replaced and reset, but not reset inside a block") {
  reset_default_graph();
  zero(default_graph(), "a");
  Graph mine;
  {
    AsDefault as(mine);
    CHECK(&default_graph() == &mine);
    CHECK_THROWS_AS(reset_default_graph(), FailedPrecondition);
  }
  CHECK(default_graph().size() == 1);
  reset_default_graph();
  CHECK(default_graph().size() == 0);
}

TEST_CASE("growing the graph in a loop is warned of once, with the place") {
  Graph g;
  std::vector<std::string> lines;
  ScopedLogSink sink([&](LogLevel, const std::string& line) { lines.push_back(line); });
  const Output x = zero(g, "x");
  Session session(g);
  for (int i = 0; i < 1000; ++i) session.run(square(x));
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].find("graph grew by 255 nodes during 256 runs, last 'Square_255' created at ") !=
        std::string::npos);
}
