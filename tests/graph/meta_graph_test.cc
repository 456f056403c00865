// `.meta` files both ways: collections of every kind, savers, signatures of ops; TensorFlow's own files
// (golden/) come out as they went in.
#include "graph/meta_graph.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "graph/error.h"
#include "graph/io/file_system.h"
#include "graph/log.h"
#include "runnel/meta_graph.pb.h"
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

std::string refusal(Graph& g, const std::string& bytes) {
  return what_of([&] { import_meta_graph_def(g, bytes); });
}

const char* kFiles[] = {"meta/kitchen.meta", "meta/dense.meta", "linear_ref/linear.ckpt-100.meta",
                        "linear_resource/linear.ckpt-100.meta"};

// A variable with the parts that a VariableDef names.
const std::string kVariable =
    "graph_def { node { name: 'v' op: 'VariableV2' attr { key: 'dtype' value { type: DT_FLOAT } } attr { "
    "key: 'shape' "
    "value { shape {} } } } node { name: 'v/Assign' op: 'NoOp' } }\n";
const std::string kDef = "value: '\\n\\003v:0\\022\\010v/Assign\\032\\003v:0'";  // no trainable field

std::string collection(const std::string& key, const std::string& kind) {
  return "collection_def { key: '" + key + "' value { " + kind + " } }\n";
}

}  // namespace

TEST_CASE("TensorFlow's files come out with the same nodes and inputs") {
  for (const char* file : kFiles) {
    CAPTURE(file);
    const pb::MetaGraphDef theirs = parsed(golden(file));
    Graph g;
    import_meta_graph_def(g, golden(file));
    const pb::MetaGraphDef ours = parsed(export_meta_graph_def(g));
    std::map<std::string, const pb::NodeDef*> nodes;
    for (const auto& node : ours.graph_def().node()) nodes[node.name()] = &node;
    REQUIRE(ours.graph_def().node_size() == theirs.graph_def().node_size());
    for (const auto& node : theirs.graph_def().node()) {
      CAPTURE(node.name());
      const pb::NodeDef& mine = *nodes.at(node.name());
      CHECK(mine.op() == node.op());
      CHECK(mine.device() == node.device());
      CHECK(std::ranges::equal(mine.input(), node.input()));
      CHECK(mine.attr().size() == node.attr().size());
    }
    CHECK(ours.graph_def().versions().producer() == 2474);
  }
}

TEST_CASE("TensorFlow's collections, savers and functions come out as they went in") {
  for (const char* file : kFiles) {
    CAPTURE(file);
    const pb::MetaGraphDef theirs = parsed(golden(file));
    Graph g;
    const MetaGraphInfo info = import_meta_graph_def(g, golden(file));
    const pb::MetaGraphDef ours = parsed(export_meta_graph_def(g, {.saver_def = info.saver_def}));
    CHECK(ours.collection_def().size() == theirs.collection_def().size());
    for (const auto& collection : theirs.collection_def()) {
      CAPTURE(collection.first);
      CHECK(ours.collection_def().at(collection.first).SerializeAsString() ==
            collection.second.SerializeAsString());
    }
    CHECK(ours.saver_def().SerializeAsString() == theirs.saver_def().SerializeAsString());
    CHECK(ours.graph_def().library().function_size() == theirs.graph_def().library().function_size());
    CHECK(info.tensorflow_version == "2.21.0");
  }
}

TEST_CASE("the list of ops names every op once, in order, and keeps the signatures of foreign ones") {
  Graph g;
  import_meta_graph_def(g, golden("meta/kitchen.meta"));
  const pb::MetaGraphDef theirs = parsed(golden("meta/kitchen.meta")),
                         ours = parsed(export_meta_graph_def(g));
  const auto& mine = ours.meta_info_def().stripped_op_list().op();
  const auto& other = theirs.meta_info_def().stripped_op_list().op();
  REQUIRE(mine.size() == other.size());
  int foreign = 0;
  for (int i = 0; i < mine.size(); ++i) {
    CHECK(mine[i].name() == other[i].name());
    if (find_op(mine[i].name())) continue;
    CHECK(mine[i].SerializeAsString() == other[i].SerializeAsString());
    ++foreign;
  }
  CHECK(foreign > 0);
  CHECK(ours.meta_info_def().tensorflow_version() == "1.15.0");
}

TEST_CASE("a graph written without default attributes gets them back from the signatures in the file") {
  Graph g;
  import_meta_graph_def(g, golden("meta/stripped.meta"));
  const Node& queue = g.operation("fifo").node();
  CHECK(queue.bytes("container") == "");
  CHECK(queue.integer("capacity") == 4);
  CHECK(g.operation("w").node().bytes("shared_name") == "");
}

TEST_CASE("variables of a file are shared by its collections and know their parts") {
  Graph g;
  import_meta_graph_def(g, golden("linear_resource/linear.ckpt-100.meta"));
  const std::vector<Variable> all = g.variables(), trainable = g.variables(keys::kTrainableVariables);
  REQUIRE(all.size() == 2);
  REQUIRE(trainable.size() == 2);
  CHECK(all[0].name() == "weight");
  CHECK(all[0].shape() == Shape{1});
  CHECK(all[0].parts().is_resource);
  CHECK(all[0].value().name() == "weight/Read/ReadVariableOp:0");
  CHECK(all[0].parts().initializer.name() == "weight/Assign");
  CHECK(&all[0].parts() == &trainable[0].parts());
}

TEST_CASE("a variable of an old file is trainable if its collection says so") {
  const std::string global = collection("variables", "bytes_list { " + kDef + " }");
  Graph trained, fixed;
  import_meta_graph_def(
      trained, kVariable + global + collection("trainable_variables", "bytes_list { " + kDef + " }"));
  import_meta_graph_def(fixed, kVariable + global);
  CHECK(trained.variables()[0].parts().trainable);
  CHECK_FALSE(fixed.variables()[0].parts().trainable);
}

TEST_CASE("numbers, strings, tensors and operations are collected under any key") {
  Graph g;
  import_meta_graph_def(g, kVariable + collection("i", "int64_list { value: [1, -2] }") +
                               collection("f", "float_list { value: 0.5 }") +
                               collection("s", "bytes_list { value: 'x' }") +
                               collection("n", "node_list { value: 'v:0' value: 'v/Assign' }"));
  CHECK(g.collection("i") == Collection{std::int64_t{1}, std::int64_t{-2}});
  CHECK(g.collection("f") == Collection{0.5f});
  CHECK(g.collection("s") == Collection{std::string("x")});
  CHECK(g.collection("n") == Collection{g.output("v:0"), g.operation("v/Assign")});
}

TEST_CASE("collections that cannot be are refused and leave no trace") {
  const std::pair<std::string, std::string> cases[] = {
      {collection("c", "node_list { value: 'x' }"), "collection \"c\": the graph has no operation 'x'"},
      {collection("c", "node_list { value: 'v:1' }"),
       "collection \"c\": 'v:1': operation 'v' has only 1 outputs"},
      {collection("variables", "bytes_list { value: '\\n' }"), "an item is no VariableDef"},
      {collection("variables", "bytes_list { value: '\\n\\012v/Assign:0' }"),
       "collection \"variables\": 'v/Assign:0': operation 'v/Assign' has only 0 outputs"},
  };
  for (const auto& [text, why] : cases) {
    Graph g;
    CHECK(refusal(g, kVariable + collection("a", "int64_list { value: 1 }") + text).ends_with(why));
    CHECK(g.size() == 0);
    CHECK(g.collection_keys().empty());
  }
}

TEST_CASE("a collection of mixed items is left out with a warning") {
  Graph g;
  g.add_to_collection("mixed", std::int64_t{1});
  g.add_to_collection("mixed", std::string("x"));
  g.add_to_collection("plain", 2.0f);
  std::string logged;
  const ScopedLogSink sink([&](LogLevel, const std::string& line) { logged = line; });
  const pb::MetaGraphDef meta = parsed(export_meta_graph_def(g));
  CHECK(meta.collection_def().size() == 1);
  CHECK(logged == "collection 'mixed' is not written: its items are of different kinds");
  CHECK(
      parsed(export_meta_graph_def(g, {.collections = std::vector<std::string>{}})).collection_def().empty());
}

TEST_CASE("signatures and kinds of collections that are not known survive") {
  pb::MetaGraphDef meta;
  REQUIRE(meta.ParseFromString(
      std::string("\x2a\x03\x0a\x01s\x12\x00", 7)));  // field 5, signature_def; an empty graph
  (*meta.mutable_collection_def())["any"].ParseFromString(std::string("\x2a\x00", 2));  // field 5, any_list
  Graph g;
  import_meta_graph_def(g, meta.SerializeAsString());
  const pb::MetaGraphDef out = parsed(export_meta_graph_def(g));
  CHECK(out.GetReflection()->GetUnknownFields(out).field(0).length_delimited() == "\x0a\x01s");
  CHECK(out.collection_def().at("any").SerializeAsString() == std::string("\x2a\x00", 2));
}

TEST_CASE("the text form of a meta graph holds the same as the binary form") {
  Graph g, again;
  import_meta_graph_def(g, golden("meta/kitchen.meta"));
  import_meta_graph_def(again, export_meta_graph_def(g, {.as_text = true}));
  CHECK(export_meta_graph_def(again, {.as_text = true}) == export_meta_graph_def(g, {.as_text = true}));
  CHECK(again.variables().size() == 3);
}

TEST_CASE("files that hold no meta graph are refused") {
  Graph g;
  CHECK(refusal(g, "") == "this is not a MetaGraphDef (a .meta file): it holds no graph");
  CHECK(refusal(g, golden("meta/kitchen.meta").substr(0, 1000)) ==
        "these 1000 bytes are not a MetaGraphDef (a .meta file): they are cut short or something else");
  CHECK(refusal(g, golden("linear_ref/checkpoint"))
            .starts_with("this is not a MetaGraphDef (a .meta file) but a `checkpoint` text"));
}
