// Graphs in event files keep everything but large values.
#include "summary/events/shown_graph.h"

#include <doctest/doctest.h>

#include "graph/error.h"
#include "runnel/graph.pb.h"
#include "runnel/meta_graph.pb.h"

using namespace runnel;

namespace {

pb::NodeDef constant_of(int bytes) {
  pb::NodeDef node;
  node.set_name("c");
  node.set_op("Const");
  pb::TensorProto& tensor = *(*node.mutable_attr())["value"].mutable_tensor();
  tensor.set_dtype(pb::DT_UINT8);
  tensor.mutable_tensor_shape()->add_dim()->set_size(bytes);
  tensor.set_tensor_content(std::string(static_cast<std::size_t>(bytes), 'x'));
  return node;
}

const pb::TensorProto& value(const pb::NodeDef& node) { return node.attr().at("value").tensor(); }

}  // namespace

TEST_CASE("a large constant keeps dtype and shape and loses its values; a small one keeps all") {
  pb::GraphDef graph, shown;
  *graph.add_node() = constant_of(2'000'000);
  *graph.add_node() = constant_of(1000);
  REQUIRE(shown.ParseFromString(shown_graph(graph.SerializeAsString())));
  CHECK(shown.ByteSizeLong() < 1300);
  CHECK(value(shown.node(0)).dtype() == pb::DT_UINT8);
  CHECK(value(shown.node(0)).tensor_shape().dim(0).size() == 2'000'000);
  CHECK(value(shown.node(0)).tensor_content().empty());
  CHECK(shown.node(1).SerializeAsString() == constant_of(1000).SerializeAsString());
}

TEST_CASE("constants in functions, in lists and in meta graphs are no exception") {
  pb::MetaGraphDef meta, shown;
  pb::GraphDef& graph = *meta.mutable_graph_def();
  *graph.mutable_library()->add_function()->add_node_def() = constant_of(5000);
  pb::NodeDef& node = *graph.add_node();
  *(*node.mutable_attr())["values"].mutable_list()->add_tensor() = value(constant_of(5000));
  meta.mutable_meta_info_def()->set_tensorflow_version("1.15.0");
  REQUIRE(shown.ParseFromString(shown_meta_graph(meta.SerializeAsString())));
  CHECK(shown.ByteSizeLong() < 200);
  CHECK(shown.meta_info_def().tensorflow_version() == "1.15.0");
}

TEST_CASE("bytes that are no graph are refused") {
  CHECK_THROWS_WITH_AS(shown_graph("\xff"), "these 1 bytes are no GraphDef", InvalidArgument);
  CHECK_THROWS_WITH_AS(shown_meta_graph("\xff"), "these 1 bytes are no MetaGraphDef", InvalidArgument);
}
