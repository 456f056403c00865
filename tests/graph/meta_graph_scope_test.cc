// Meta graphs under a scope: names follow everywhere on the way in, and on the way out what is outside of the
// scope is named as unbound.
#include <doctest/doctest.h>

#include <algorithm>

#include "graph/error.h"
#include "graph/io/file_system.h"
#include "graph/log.h"
#include "graph/meta_graph.h"
#include "graph/runtime/session.h"
#include "ops/ops.h"
#include "runnel/control_flow.pb.h"
#include "runnel/meta_graph.pb.h"
#include "runnel/queue_runner.pb.h"
#include "tests/graph/thrown.h"

using namespace runnel;

namespace {

std::string golden(const std::string& name) {
  return read_file(real_file_system(), std::string(RUNNEL_GOLDEN) + "/" + name);
}

pb::MetaGraphDef parsed(const std::string& bytes) {
  pb::MetaGraphDef meta;
  REQUIRE(meta.ParseFromString(bytes));
  return meta;
}

template <class Message>
Message item(const Graph& g, const char* key, std::size_t i = 0) {
  Message message;
  REQUIRE(message.ParseFromString(std::get<std::string>(g.collection(key).at(i))));
  return message;
}

std::vector<std::string> names_of(const pb::GraphDef& def) {
  std::vector<std::string> names;
  for (const auto& node : def.node()) names.push_back(node.name());
  return names;
}

// A variable in the scope `hid` that takes from outside, and two that take from it.
void build(Graph& g) {
  const Output x = placeholder<float>(g, {3}, "x");
  {
    const NameScope scope(g, "hid");
    const Variable w = variable(g, Tensor::vector<float>({1, 2, 3}), "w");
    const Output y = multiply(w, x, {.name = "y"});
    add(y, x, {.name = "z"});
    const ControlDependencies after(g, {x.node()});
    no_op(g, {.name = "c"});
    g.add_to_collection("n", y);
    g.add_to_collection("names", std::string("hid/y:0"));
  }
  const NameScope scope(g, "hidden");
  g.add_to_collection("n", identity(g.output("hid/y:0"), {.name = "t"}));
  g.add_to_collection("names", std::string("hidden/t"));
  g.add_to_collection("names", std::string("free text"));
  g.add_to_collection("outside", g.operation("hidden/t"));
}

}  // namespace

TEST_CASE("a graph imported under a scope has every name under it") {
  Graph plain, g;
  import_meta_graph_def(plain, golden("meta/kitchen.meta"));
  const MetaGraphInfo info = import_meta_graph_def(g, golden("meta/kitchen.meta"), {.import_scope = "m2"});
  CHECK(info.scope == "m2/");
  REQUIRE(g.size() == plain.size());
  for (const Node* node : plain.nodes()) {
    CAPTURE(node->name());
    const Node& mine = g.operation("m2/" + node->name()).node();
    REQUIRE(mine.inputs() == node->inputs());
    for (int i = 0; i < node->inputs(); ++i) CHECK(mine.input(i).name() == "m2/" + node->input(i).name());
    REQUIRE(mine.control_inputs().size() == node->control_inputs().size());
    for (std::size_t i = 0; i < node->control_inputs().size(); ++i)
      CHECK(mine.control_inputs()[i]->name() == "m2/" + node->control_inputs()[i]->name());
  }
  CHECK(g.operation("m2/w/read").node().attr("_class")->text() == "[\"loc:@m2/w\"]");
  CHECK(g.operation("m2/loop/Enter").node().bytes("frame_name") == "m2/loop/while_context");
}

TEST_CASE("messages in collections and the saver follow into the scope") {
  Graph g;
  const MetaGraphInfo info = import_meta_graph_def(g, golden("meta/kitchen.meta"), {.import_scope = "m2"});
  pb::SaverDef saver;
  REQUIRE(saver.ParseFromString(info.saver_def));
  CHECK(saver.filename_tensor_name() == "m2/save/Const:0");
  CHECK(saver.restore_op_name() == "m2/save/restore_all");
  CHECK(g.variables()[1].name() == "m2/w");
  CHECK(g.variables()[1].parts().initial_value.name() == "m2/w/Initializer/zeros:0");
  const auto runner = item<pb::QueueRunnerDef>(g, keys::kQueueRunners);
  CHECK(runner.queue_name() == "m2/fifo");
  CHECK(runner.enqueue_op_name(0) == "m2/enq");
  CHECK(runner.cancel_op_name() == "m2/fifo_Close_1");
  CHECK(runner.queue_closed_exception_types(0) == 11);
  const auto cond = item<pb::CondContextDef>(g, keys::kCondContext);
  CHECK(cond.pivot_name() == "m2/cond/switch_t:0");
  CHECK(cond.values_def().external_values().at("m2/y:0") == "m2/cond/mul/Switch:1");
  const auto loop = item<pb::WhileContextDef>(g, keys::kWhileContext);
  CHECK(loop.context_name() == "m2/loop/while_context");
  CHECK(loop.loop_enter_names(1) == "m2/loop/Enter_1:0");
  CHECK(loop.parallel_iterations() == 10);
  CHECK(std::get<std::string>(g.collection("my_strings")[0]) == "text");
  CHECK(g.collection("my_tensors") == Collection{g.output("m2/y:0")});
}

TEST_CASE("a second import under one scope gets the next name, and one inside an open scope its name too") {
  Graph g;
  const std::string meta = golden("linear_ref/linear.ckpt-100.meta");
  import_meta_graph_def(g, meta, {.import_scope = "m"});
  CHECK(import_meta_graph_def(g, meta, {.import_scope = "m"}).scope == "m_1/");
  const NameScope out(g, "out");
  CHECK(import_meta_graph_def(g, meta, {.import_scope = "m"}).scope == "out/m/");
  CHECK(import_meta_graph_def(g, meta).scope == "out/");
  CHECK(g.find("out/weight"));
  CHECK(g.variables().size() == 8);
  CHECK(g.current_scope() == "out/");
}

TEST_CASE(
    "names that are there already are refused, also under a scope that is re-opened, and leave no trace") {
  Graph g;
  const std::string meta = golden("linear_ref/linear.ckpt-100.meta");
  import_meta_graph_def(g, meta, {.import_scope = "m"});
  const std::size_t before = g.size();
  CHECK(message_of<InvalidArgument>([&] {
          import_meta_graph_def(g, meta, {.import_scope = "m/"});
        }).find(" nodes have names that the graph has already: m/") != std::string::npos);
  CHECK(g.size() == before);
  CHECK(g.variables().size() == 2);
  CHECK_THROWS_AS(import_meta_graph_def(g, meta.substr(0, 5000), {.import_scope = "n"}), DataLoss);
  CHECK_THROWS_AS(import_meta_graph_def(g, meta, {.import_scope = "no name"}), InvalidArgument);
  CHECK(import_meta_graph_def(g, meta, {.import_scope = "n"}).scope == "n/");
}

TEST_CASE("resource variables of two imports are two, and handles that share one go on sharing it") {
  Graph g;
  import_meta_graph_def(g, golden("linear_resource/linear.ckpt-100.meta"), {.import_scope = "a"});
  CHECK(g.operation("a/weight").node().bytes("shared_name") == "a/weight");
  Graph two, again;
  for (const char* name : {"v", "v_1"})
    two.add("VarHandleOp", {}, {{"dtype", DType::kFloat}, {"shape", Shape{}}, {"shared_name", "v"}}, name);
  import_meta_graph_def(again, export_meta_graph_def(two), {.import_scope = "b"});
  CHECK(again.operation("b/v_1").node().bytes("shared_name") == "b/v");
}

TEST_CASE("an exported scope has lost its name, and what it takes from outside is unbound") {
  Graph g;
  build(g);
  const pb::MetaGraphDef meta = parsed(export_meta_graph_def(g, {.export_scope = "hid"}));
  CHECK(names_of(meta.graph_def()) ==
        std::vector<std::string>{"w/initial_value", "w", "w/Assign", "w/read", "y", "z", "c"});
  CHECK(meta.graph_def().node(4).input(1) == "$unbound_inputs_x");
  CHECK(meta.graph_def().node(6).input(0) == "^$unbound_inputs_x");
  CHECK(meta.graph_def().node(2).attr().at("_class").list().s(0) == "loc:@w");
  const auto& collections = meta.collection_def();
  CHECK(std::ranges::equal(collections.at("unbound_inputs").bytes_list().value(),
                           std::vector<std::string>{"$unbound_inputs_x", "^$unbound_inputs_x"}));
  CHECK(std::ranges::equal(collections.at("n").node_list().value(), std::vector<std::string>{"y:0"}));
  CHECK(std::ranges::equal(collections.at("names").bytes_list().value(),
                           std::vector<std::string>{"y:0", "free text"}));
  CHECK_FALSE(collections.contains("outside"));
  CHECK(g.collection("unbound_inputs").empty());
}

TEST_CASE("an exported scope comes in under another one, fed from there") {
  Graph g;
  build(g);
  const std::string meta = export_meta_graph_def(g, {.export_scope = "hid/"});
  CHECK(message_of<InvalidArgument>([&] { import_meta_graph_def(g, meta, {.import_scope = "q"}); }) ==
        "2 inputs are not bound: '$unbound_inputs_x', '^$unbound_inputs_x'; give what they are to take in "
        "input_map, by these names");
  const Output x = constant(g, Tensor::vector<float>({10, 20, 30}), {.name = "other"});
  import_meta_graph_def(
      g, meta, {.import_scope = "q", .input_map = {{"$unbound_inputs_x", x}, {"^$unbound_inputs_x", x}}});
  CHECK(g.operation("q/c").node().control_inputs()[0]->name() == "other");
  CHECK(g.variables().back().name() == "q/w");
  CHECK(g.collection("unbound_inputs").empty());
  Session session(g);
  session.run(initialize_global_variables(g));
  CHECK(session.run(g.output("q/z:0")) == Tensor::vector<float>({20, 60, 120}));
}

TEST_CASE("an input map that does not fit is refused") {
  Graph g, other;
  build(g);
  const std::string meta = export_meta_graph_def(g);
  const Output x = placeholder<float>(g, {3}, "new"), wrong = placeholder<int>(g, {3}, "wrong");
  const auto why = [&](std::map<std::string, Output> map) {
    return message_of<InvalidArgument>(
        [&] { import_meta_graph_def(g, meta, {.import_scope = "m", .input_map = std::move(map)}); });
  };
  CHECK(why({{"nope:0", x}}) ==
        "there is no input 'm/nope' that 'new:0' could be given for: no node takes it");
  CHECK(why({{"x", placeholder<float>(other, {3}, "far")}}) ==
        "input 'm/x' is given 'far:0', which is of another graph");
  CHECK(why({{"x", Output(x.node(), 1)}}) == "input 'm/x' is given 'new:1', but 'new' has only 1 outputs");
  CHECK(why({{"x:zero", x}}) == "input 'm/x:zero' has no valid output number");
  CHECK(why({{"x", wrong}}).find("int32") != std::string::npos);
  CHECK(why({{"x", x}}) == "no error of this class");
  CHECK(g.operation("m/hid/z").node().input(1) == x);
}

TEST_CASE("savers in a scope that is left out go from nodes and collections, and nothing may need them") {
  Graph g;
  build(g);
  pb::SaverDef saver;
  saver.set_filename_tensor_name("hidden/t:0");
  saver.set_save_tensor_name("hidden/t:0");
  saver.set_restore_op_name("hidden/t");
  g.add_to_collection(keys::kSavers, saver.SerializeAsString());
  const pb::MetaGraphDef meta = parsed(export_meta_graph_def(g, {.left_out_scopes = {"hidden"}}));
  CHECK(names_of(meta.graph_def()).back() == "hid/c");
  CHECK_FALSE(meta.collection_def().contains(keys::kSavers));
  CHECK(meta.collection_def().at("n").node_list().value_size() == 1);
  identity(g.output("hidden/t:0"), {.name = "user"});
  CHECK(message_of<InvalidArgument>([&] { export_meta_graph_def(g, {.left_out_scopes = {"hidden"}}); }) ==
        "node 'user' takes 'hidden/t' of a saver that is left out: keep the savers, or export without that "
        "node");
}

TEST_CASE("a saver outside of the exported scope is left out with a warning, one inside loses the scope") {
  Graph g;
  build(g);
  std::string logged;
  const ScopedLogSink sink([&](LogLevel, const std::string& line) { logged = line; });
  pb::SaverDef saver;
  saver.set_restore_op_name("save/restore_all");
  const auto out = [&] {
    return parsed(export_meta_graph_def(g, {.saver_def = saver.SerializeAsString(), .export_scope = "hid"}));
  };
  CHECK_FALSE(out().has_saver_def());
  CHECK(logged == "the saver 'save/restore_all' is not written: it is outside of 'hid/'");
  saver.set_restore_op_name("hid/c");
  CHECK(out().saver_def().restore_op_name() == "c");
  CHECK(message_of<InvalidArgument>([&] { export_meta_graph_def(g, {.export_scope = "hi"}); }) ==
        "there is nothing to export under the scope 'hi/'");
}

TEST_CASE("another graph_def is written in place of the graph's nodes") {
  Graph g, other;
  build(g);
  identity(placeholder<float>(other, {3}, "x"), {.name = "only"});
  const std::string def = other.to_graph_def();
  const pb::MetaGraphDef meta = parsed(export_meta_graph_def(
      g, {.collections = std::vector<std::string>{}, .graph_def = def, .strip_default_attrs = true}));
  CHECK(names_of(meta.graph_def()) == std::vector<std::string>{"x", "only"});
  CHECK(meta.meta_info_def().stripped_op_list().op_size() == 2);
  CHECK_THROWS_AS(export_meta_graph_def(g, {.graph_def = "\x01"}), DataLoss);
}
