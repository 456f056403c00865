// Looks at the tensors among the attributes of all nodes, those of functions too.
#include "summary/events/shown_graph.h"

#include "graph/error.h"
#include "graph/wire.h"
#include "runnel/graph.pb.h"
#include "runnel/meta_graph.pb.h"

namespace runnel {
namespace {

void thin(pb::TensorProto& tensor) {
  if (tensor.ByteSizeLong() <= kLargeValueBytes) return;
  pb::TensorProto shown;
  shown.set_dtype(tensor.dtype());
  shown.mutable_tensor_shape()->Swap(tensor.mutable_tensor_shape());
  tensor.Swap(&shown);
}

void thin(pb::NodeDef& node) {
  for (auto& [name, attr] : *node.mutable_attr()) {
    if (attr.has_tensor()) thin(*attr.mutable_tensor());
    if (attr.has_list())
      for (pb::TensorProto& tensor : *attr.mutable_list()->mutable_tensor()) thin(tensor);
  }
}

void thin(pb::GraphDef& graph) {
  for (pb::NodeDef& node : *graph.mutable_node()) thin(node);
  if (!graph.has_library()) return;
  for (pb::FunctionDef& function : *graph.mutable_library()->mutable_function())
    for (pb::NodeDef& node : *function.mutable_node_def()) thin(node);
}

template <class Message>
Message parsed(const std::string& bytes, const char* what) {
  Message message;
  if (!message.ParseFromString(bytes))
    throw InvalidArgument(cat("these ", bytes.size(), " bytes are no ", what));
  return message;
}

}  // namespace

std::string shown_graph(const std::string& graph_def) {
  auto graph = parsed<pb::GraphDef>(graph_def, "GraphDef");
  thin(graph);
  return message_bytes(graph, "the graph");
}

std::string shown_meta_graph(const std::string& meta_graph_def) {
  auto meta = parsed<pb::MetaGraphDef>(meta_graph_def, "MetaGraphDef");
  if (meta.has_graph_def()) thin(*meta.mutable_graph_def());
  return message_bytes(meta, "the meta graph");
}

}  // namespace runnel
