// Graph, collections and op signatures put together; each part is read and written elsewhere.
#include "graph/meta_graph.h"

#include <algorithm>
#include <set>

#include "graph/collection_proto.h"
#include "graph/error.h"
#include "graph/graph_def.h"
#include "graph/log.h"
#include "graph/op_def_proto.h"
#include "graph/wire.h"
#include "runnel/meta_graph.pb.h"

namespace runnel {
namespace {

// The release whose graphs ours are like; readers go by it when they fill in what a file leaves out.
constexpr const char* kTensorflowVersion = "1.15.0";

// Ops of the graph's nodes and of its functions' bodies, sorted.
std::set<std::string> ops_of(const pb::GraphDef& def) {
  std::set<std::string> out;
  for (const auto& node : def.node()) out.insert(node.op());
  for (const auto& function : def.library().function())
    for (const auto& node : function.node_def()) out.insert(node.op());
  return out;
}

void write_ops(const Graph::State& state, const pb::GraphDef& def, pb::OpList& list) {
  for (const std::string& op : ops_of(def)) {
    const auto carried = state.carried.op_defs.find(op);
    if (carried != state.carried.op_defs.end()) {
      list.add_op()->ParseFromString(carried->second);
    } else if (const OpSpec* spec = find_op(op)) {
      write_op_def(*spec, *list.add_op());
    }
  }
}

void write_collections(const Graph::State& state, const MetaGraphOptions& options, pb::MetaGraphDef& meta) {
  const auto wanted = [&](const std::string& key) {
    return !options.collections || std::ranges::find(*options.collections, key) != options.collections->end();
  };
  auto& to = *meta.mutable_collection_def();
  for (const auto& [key, bytes] : state.carried.collections)
    if (wanted(key)) to[key].ParseFromString(bytes);
  for (const auto& [key, items] : state.collections)
    if (wanted(key) && !items.empty() && !write_collection(key, items, to[key])) {
      to.erase(key);
      log_warning(cat("collection '", key, "' is not written: its items are of different kinds"));
    }
}

// Tensors that collections name.
std::vector<std::string> tensors_named(const pb::MetaGraphDef& meta) {
  std::vector<std::string> out;
  for (const auto& [key, def] : meta.collection_def())
    for (const std::string& name : def.node_list().value())
      if (name.find(':') != std::string::npos) out.push_back(name);
  return out;
}

void take_unknown_fields(const pb::MetaGraphDef& meta, CarriedMessages& carried) {
  if (carried.unknown_meta_fields.empty())
    meta.GetReflection()->GetUnknownFields(meta).SerializeToString(&carried.unknown_meta_fields);
}

}  // namespace

std::string export_meta_graph_def(const Graph& graph, const MetaGraphOptions& options) {
  const Graph::State& state = graph.state();
  std::lock_guard hold(state.lock);
  pb::MetaGraphDef meta;
  meta.ParseFromString(state.carried.unknown_meta_fields);
  export_message(state,
                 {.add_shapes = true,
                  .strip_default_attrs = options.strip_default_attrs,
                  .clear_devices = options.clear_devices},
                 *meta.mutable_graph_def());
  pb::MetaGraphDef::MetaInfoDef& info = *meta.mutable_meta_info_def();
  write_ops(state, meta.graph_def(), *info.mutable_stripped_op_list());
  info.set_tensorflow_version(kTensorflowVersion);
  info.set_stripped_default_attrs(options.strip_default_attrs);
  if (!options.saver_def.empty() && !parse_message(options.saver_def, *meta.mutable_saver_def()))
    throw InvalidArgument("the saver_def given is no serialized SaverDef");
  write_collections(state, options, meta);
  return options.as_text ? message_text(meta) : message_bytes(meta, "the graph");
}

MetaGraphInfo import_meta_graph_def(Graph& graph, std::string_view meta_graph,
                                    ImportMetaGraphOptions options) {
  pb::MetaGraphDef meta;
  read_message(meta_graph, meta, "a MetaGraphDef (a .meta file)");
  if (!meta.has_graph_def())
    throw InvalidArgument("this is not a MetaGraphDef (a .meta file): it holds no graph");
  if (options.clear_devices)
    for (auto& node : *meta.mutable_graph_def()->mutable_node()) node.clear_device();
  Graph::State& state = graph.state();
  std::lock_guard hold(state.lock);
  GraphRollback rollback(state);
  TensorBudget budget;
  import_message(state, meta.graph_def(), budget,
                 {.ops = &meta.meta_info_def().stripped_op_list(), .tensors = tensors_named(meta)});
  import_collections(state, meta);
  take_unknown_fields(meta, state.carried);
  rollback.keep();
  return {meta.has_saver_def() ? message_bytes(meta.saver_def(), "a SaverDef") : "",
          meta.meta_info_def().tensorflow_version()};
}

}  // namespace runnel
