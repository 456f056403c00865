// GraphDef both ways: what is kept, what is filled in, in which order nodes are made, and what is refused
// without a trace. Constants against TensorFlow's own messages (golden/meta/consts.pb).
#include <doctest/doctest.h>

#include <algorithm>

#include "graph/dataflow.h"
#include "graph/error.h"
#include "graph/io/file_system.h"
#include "runnel/graph.pb.h"
#include "tests/graph/thrown.h"

using namespace runnel;

namespace {

const OpRegistration kJoin{
    {.name = "TestJoin",
     .inputs = {"x: N * T"},
     .outputs = {"y: T"},
     .attrs = {"T: type", "N: int >= 1", "flag: bool = true", "dims: list(int) = [1, 2]"},
     .shape = unknown_shapes,
     .gradient = Gradient::none("a test"),
     .traits = {}}};
const OpRegistration kBack{{.name = "TestBack",
                            .inputs = {"x: T"},
                            .outputs = {"y: T"},
                            .attrs = {"T: type"},
                            .shape = same_shape,
                            .gradient = Gradient::none("a test"),
                            .traits = {.role = Role::kNextIteration}}};

std::string golden(const std::string& name) {
  return read_file(real_file_system(), std::string(RUNNEL_GOLDEN) + "/" + name);
}

pb::GraphDef parsed(const std::string& bytes) {
  pb::GraphDef def;
  REQUIRE(def.ParseFromString(bytes));
  return def;
}

std::string constant_node(const std::string& name) {
  return "node { name: '" + name +
         "' op: 'Const' attr { key: 'dtype' value { type: DT_FLOAT } } attr { key: 'value' "
         "value { tensor { dtype: DT_FLOAT tensor_shape {} float_val: 2 } } } }\n";
}

std::string join_node(const std::string& name, const std::vector<std::string>& inputs,
                      const std::string& op = "TestJoin") {
  std::string text =
      "node { name: '" + name + "' op: '" + op + "' attr { key: 'T' value { type: DT_FLOAT } }";
  if (op == "TestJoin")
    text +=
        cat(" attr { key: 'N' value { i: ",
            std::ranges::count_if(inputs, [](const std::string& input) { return input[0] != '^'; }), " } }");
  for (const std::string& input : inputs) text += " input: '" + input + "'";
  return text + " }\n";
}

std::string refusal(Graph& g, const std::string& def) {
  return what_of([&] { g.import_graph_def(def); });
}

std::vector<std::string> names(const Graph& g) {
  std::vector<std::string> out;
  for (const Node* node : g.nodes()) out.push_back(node->name());
  return out;
}

}  // namespace

TEST_CASE("a Const is written in the form that tf.constant gives it") {
  const std::string bytes = golden("meta/consts.pb");
  Graph g;
  g.import_graph_def(bytes);
  const pb::GraphDef theirs = parsed(bytes), ours = parsed(g.to_graph_def());
  REQUIRE(ours.node_size() == theirs.node_size());
  REQUIRE(ours.node_size() == 110);
  for (int i = 0; i < ours.node_size(); ++i) {
    CAPTURE(ours.node(i).name());
    const pb::TensorProto &mine = ours.node(i).attr().at("value").tensor(),
                          &other = theirs.node(i).attr().at("value").tensor();
    // A few equal values are written out, however they came (graph/README.md, "differs from TensorFlow").
    const bool filled = theirs.node(i).name().find("_fill") != std::string::npos;
    CHECK((mine.SerializeAsString() == other.SerializeAsString()) == !filled);
  }
}

TEST_CASE("nodes may stand before their inputs, and the file's order is kept otherwise") {
  Graph g;
  g.import_graph_def(constant_node("a") + join_node("c", {"a", "b"}) + join_node("d", {"a"}) +
                     constant_node("b") + join_node("e", {"c:0", "^d"}));
  CHECK(names(g) == std::vector<std::string>{"a", "d", "b", "c", "e"});
  CHECK(g.operation("e").node().control_inputs()[0]->name() == "d");
}

TEST_CASE("the back edge of a loop closes no cycle") {
  Graph g;
  g.import_graph_def(constant_node("a") + join_node("m", {"a", "n"}) + join_node("n", {"m"}, "TestBack"));
  CHECK(g.operation("m").node().input(1).name() == "n:0");
  Graph again;
  again.import_graph_def(g.to_graph_def());
  CHECK(again.to_graph_def() == g.to_graph_def());
}

TEST_CASE("a cycle is refused with the nodes that form it") {
  Graph g;
  const std::string why = refusal(g, constant_node("a") + join_node("b", {"a", "d"}) + join_node("c", {"b"}) +
                                         join_node("d", {"a", "^c"}) + join_node("e", {"d"}));
  CHECK(why == "the graph has a cycle: b -> c -> d -> b; only the back edge of a loop may close one");
  CHECK(g.size() == 0);
}

TEST_CASE("a graph with a mistake is refused in one sentence and leaves no trace") {
  const std::string a = constant_node("a");
  const std::pair<std::string, std::string> cases[] = {
      {a + join_node("b", {"x"}), "TestJoin 'b': input 'x' is no node of this graph"},
      {a + join_node("b", {"a:1"}), "TestJoin 'b': input 0 is a:1, but 'a' has only 1 outputs"},
      {a + join_node("b", {"a:9999999999"}), "TestJoin 'b': input 'a:9999999999' has no valid output number"},
      {a + join_node("b", {"a", "^a", "a"}), "TestJoin 'b': input 'a' stands after control inputs"},
      {a + a, "node 'a' occurs twice"},
      {constant_node("b c"),
       "'b c' is not a valid node name: use letters, digits and _ . \\ / > - , starting with a letter, digit "
       "or dot"},
      {"node { name: 'a' }", "node 'a' has no valid op: ''"},
      {"node { name: 'a' op: 'Const' }", "Const 'a': attr value (tensor) is missing"},
      {a + "node { name: 'b' op: 'TestBack' input: 'a' attr { key: 'T' value { type: DT_INT32 } } }",
       "TestBack 'b': input 0 must be int32, but a:0 is float[]"},
      {a + "node { name: 'b' op: 'TestBack' input: 'a' attr { key: 'T' value { i: 3 } } }",
       "TestBack 'b': attr T must be of type type, not 3"},
  };
  for (const auto& [def, why] : cases) {
    Graph g;
    CHECK(refusal(g, def) == why);
    CHECK(g.size() == 0);
    CHECK(g.unique_name("a") == "a");
  }
}

TEST_CASE("names that the graph has already are refused, five of them listed") {
  std::string def;
  for (const char* name : {"a", "b", "c", "d", "e", "f"}) def += constant_node(name);
  Graph g;
  g.import_graph_def(def);
  CHECK(refusal(g, def) ==
        "6 nodes have names that the graph has already: a, b, c, d, e, ...; import into a graph of its own, "
        "or under a scope");
  CHECK(g.size() == 6);
}

TEST_CASE("defaults are filled in, and left out again when asked to strip them") {
  Graph g;
  g.import_graph_def(constant_node("a") + join_node("b", {"a"}));
  CHECK(g.operation("b").node().flag("flag"));
  CHECK(g.operation("b").node().integers("dims") == std::vector<std::int64_t>{1, 2});
  CHECK(parsed(g.to_graph_def()).node(1).attr().size() == 4);
  CHECK(parsed(g.to_graph_def({.strip_default_attrs = true})).node(1).attr().size() == 2);
}

TEST_CASE("shapes and devices are written as asked") {
  Graph g;
  g.import_graph_def(
      "node { name: 'p' op: 'Placeholder' device: '/device:CPU:*' attr { key: 'dtype' value { type: DT_FLOAT "
      "} } "
      "attr { key: 'shape' value { shape { dim { size: -1 } dim { size: 3 } } } } }");
  CHECK(parsed(g.to_graph_def()).node(0).device() == "/device:CPU:*");
  const pb::NodeDef node = parsed(g.to_graph_def({.add_shapes = true, .clear_devices = true})).node(0);
  CHECK(node.device() == "");
  CHECK(node.attr().at("_output_shapes").ShortDebugString() ==
        "list { shape { dim { size: -1 } dim { size: 3 } } }");
}

TEST_CASE("shapes that a file states are written again where they say more, but not believed") {
  const std::string stated = " attr { key: '_output_shapes' value { list { shape { dim { size: 3 } } } } }";
  std::string node = join_node("b", {"a"});
  node.insert(node.rfind('}'), stated);
  Graph g;
  g.import_graph_def(constant_node("a") + node);
  CHECK_FALSE(g.output("b:0").shape().has_rank());
  CHECK(parsed(g.to_graph_def({.add_shapes = true}))
            .node(1)
            .attr()
            .at("_output_shapes")
            .list()
            .shape(0)
            .dim(0)
            .size() == 3);
  CHECK(parsed(g.to_graph_def()).node(1).attr().count("_output_shapes") == 0);
}

TEST_CASE("attributes that the op lacks, colocation and fields of later versions survive") {
  pb::GraphDef def;
  pb::NodeDef& node = *def.add_node();
  REQUIRE(node.ParseFromString("\x32\x03\x0a\x01q"));  // field 6, experimental_debug_info
  node.set_name("n");
  node.set_op("NoOp");
  (*node.mutable_attr())["_class"].mutable_list()->add_s("loc:@n");
  (*node.mutable_attr())["later"].ParseFromString("\x5a\x01x");  // field 11, no kind that is known
  (*node.mutable_attr())["empty"] = {};
  (*node.mutable_attr())["resource"].mutable_tensor()->set_dtype(pb::DT_RESOURCE);
  (*node.mutable_attr())["f"].mutable_func()->set_name("twice");
  Graph g;
  g.import_graph_def(def.SerializeAsString());
  pb::GraphDef out = parsed(g.to_graph_def());
  CHECK(out.versions().producer() == 134);
  CHECK(out.node(0).ByteSizeLong() == def.node(0).ByteSizeLong());
  for (const auto& [name, value] : def.node(0).attr())
    CHECK(out.node(0).attr().at(name).SerializeAsString() == value.SerializeAsString());
}

TEST_CASE("the text form holds the same graph as the binary form") {
  Graph g, again;
  g.import_graph_def(golden("meta/consts.pb"));
  again.import_graph_def(g.to_graph_def_text());
  CHECK(again.to_graph_def() == g.to_graph_def());
  Graph tolerant;
  tolerant.import_graph_def("some_later_field: 3\n" + constant_node("a"));
  CHECK(tolerant.size() == 1);
}

TEST_CASE("a node whose op nothing describes keeps as many outputs as are used") {
  Graph g;
  g.import_graph_def("node { name: 'f' op: 'Foreign' attr { key: 'k' value { i: 1 } } }\n" +
                     join_node("b", {"f:2"}));
  const Node& node = g.operation("f").node();
  CHECK(node.is_foreign());
  CHECK(node.outputs() == 3);
  CHECK(node.output(2).dtype() == DType::kInvalid);
  CHECK(parsed(g.to_graph_def()).node(0).ShortDebugString() ==
        "name: \"f\" op: \"Foreign\" attr { key: \"k\" value { i: 1 } }");
}

TEST_CASE("a constant of a type without values is kept and typed") {
  Graph g;
  g.import_graph_def(
      "node { name: 'v' op: 'Const' attr { key: 'dtype' value { type: DT_VARIANT } } attr { key: 'value' "
      "value "
      "{ tensor { dtype: DT_VARIANT variant_val { type_name: 'x' } } } } }");
  CHECK(g.operation("v").node().is_foreign());
  CHECK(g.output("v:0").dtype() == DType::kVariant);
  CHECK(parsed(g.to_graph_def()).node(0).attr().at("value").tensor().variant_val(0).type_name() == "x");
  CHECK(refusal(g,
                "node { name: 'w' op: 'Const' attr { key: 'dtype' value { type: DT_FLOAT } } attr { key: "
                "'value' value {} } }") == "Const 'w': attr value must be of type tensor, not 0 raw bytes");
}

TEST_CASE("functions of the library are ops of the graph and go out word for word") {
  const std::string library =
      "library { function { signature { name: 'twice' input_arg { name: 'x' type: DT_FLOAT } output_arg { "
      "name: 'y' type: "
      "DT_FLOAT } } node_def { name: 'z' op: 'Whatever' input: 'x' } ret { key: 'y' value: 'z:o:0' } } }\n";
  const std::string call = "node { name: 'call' op: 'twice' input: 'a' }\n";
  Graph g;
  g.import_graph_def(library + constant_node("a") + call + join_node("b", {"call"}));
  CHECK(g.operation("call").node().is_foreign());
  CHECK(g.output("call:0").dtype() == DType::kFloat);
  const pb::GraphDef out = parsed(g.to_graph_def());
  CHECK(out.library().function(0).node_def(0).op() == "Whatever");
  CHECK(out.versions().min_consumer() == 12);
  g.import_graph_def(library);
  CHECK(parsed(g.to_graph_def()).library().function_size() == 1);
  CHECK(refusal(g, "library { function { signature { name: 'twice' } } }") ==
        "function 'twice' has the name of another function or op");
}

TEST_CASE("a graph cut at any byte is refused or is a shorter graph, and nothing else happens") {
  Graph whole;
  whole.import_graph_def(constant_node("a") + join_node("b", {"a"}) + join_node("c", {"b", "^a"}));
  const std::string bytes = whole.to_graph_def();
  int refused = 0;
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    Graph g;
    const std::string why = refusal(g, bytes.substr(0, n));
    if (!why.empty()) ++refused;
    if (!why.empty()) CHECK(g.size() == 0);
    CHECK(why.find('\n') == std::string::npos);
  }
  CHECK(refused > static_cast<int>(bytes.size()) - 6);
}

TEST_CASE("other files are told by their kind") {
  const std::pair<std::string, std::string> cases[] = {
      {"version https://git-lfs.github.com/spec/v1\noid sha256:0\n",
       "this is not a GraphDef but a git-lfs pointer, not the file itself; run `git lfs pull`"},
      {"model_checkpoint_path: \"m-1\"\n",
       "this is not a GraphDef but a `checkpoint` text file; give the .meta of the checkpoint that it names"},
      {golden("meta/../linear_ref/linear.ckpt-100.index"),
       "this is not a GraphDef but a checkpoint's .index; give the .meta beside it"},
      {"node {", "this is not a GraphDef in text form: line 1, column 7: Expected identifier, got: "},
      {"node { name: 'a' op: 'NoOp' device: '\\377' }",
       "this is not a GraphDef in text form: a name in it is not UTF-8"},
      {std::string("\x12\xff\xff", 3),
       "these 3 bytes are not a GraphDef: they are cut short or something else"},
  };
  for (const auto& [bytes, why] : cases) {
    Graph g;
    CHECK(refusal(g, bytes) == why);
  }
}
