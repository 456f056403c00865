// Graph, collections and op signatures put together; each part is read and written elsewhere.
#include "graph/meta_graph.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>

#include "graph/collection_proto.h"
#include "graph/error.h"
#include "graph/graph_def.h"
#include "graph/graph_wire.h"
#include "graph/input_name.h"
#include "graph/log.h"
#include "graph/meta_graph_names.h"
#include "graph/op_def_proto.h"
#include "graph/wire.h"
#include "runnel/meta_graph.pb.h"

namespace runnel {
namespace {

// The release whose graphs ours are like; readers go by it when they fill in what a file leaves out.
constexpr const char* kTensorflowVersion = "1.15.0";

// Ops of the graph's nodes and of its functions' bodies, sorted.
using Ops = std::set<std::string>;

void add_ops(const pb::FunctionDefLibrary& library, Ops& ops) {
  for (const auto& function : library.function())
    for (const auto& node : function.node_def()) ops.insert(node.op());
}

Ops ops_of(const pb::GraphDef& def) {
  Ops out;
  for (const auto& node : def.node()) out.insert(node.op());
  add_ops(def.library(), out);
  return out;
}

Ops ops_of(const Graph::State& state) {
  Ops out;
  for (const auto& node : state.nodes)
    if (!out.contains(node->op())) out.insert(node->op());
  pb::FunctionDefLibrary library;
  library.ParseFromString(state.carried.library);
  add_ops(library, out);
  return out;
}

void write_ops(const Graph::State& state, const Ops& ops, pb::OpList& list) {
  for (const std::string& op : ops) {
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

bool is_in(std::string_view name, std::string_view scope) {
  return name.size() > scope.size() && name.starts_with(scope);
}

std::string with_slash(std::string scope) {
  if (!scope.empty() && !scope.ends_with('/')) scope += '/';
  return scope;
}

// What an export writes, by name.
class Selection {
 public:
  explicit Selection(const MetaGraphOptions& options) : scope_(with_slash(options.export_scope)) {
    for (const std::string& scope : options.left_out_scopes) left_out_.push_back(with_slash(scope));
  }

  bool is_all() const { return scope_.empty() && left_out_.empty(); }
  const std::string& scope() const { return scope_; }
  bool leaves_out(std::string_view name) const {
    return std::ranges::any_of(left_out_, [&](const std::string& scope) { return is_in(name, scope); });
  }
  std::optional<std::string> name(std::string_view name) const {
    if (leaves_out(name) || (!scope_.empty() && !is_in(name, scope_))) return {};
    return std::string(name.substr(scope_.size()));
  }

 private:
  std::string scope_;
  std::vector<std::string> left_out_;
};

GraphDefOptions graph_options(const MetaGraphOptions& options) {
  return {.add_shapes = true,
          .strip_default_attrs = options.strip_default_attrs,
          .clear_devices = options.clear_devices};
}

void write_graph(const Graph::State& state, const MetaGraphOptions& options, const Selection& selection,
                 pb::GraphDef& def) {
  if (options.graph_def.empty()) {
    export_message(state, graph_options(options), def,
                   [&](std::string_view name) { return selection.name(name).has_value(); });
    return;
  }
  read_message(options.graph_def, def, "a GraphDef");
  for (pb::NodeDef& node : *def.mutable_node()) {
    if (options.clear_devices) node.clear_device();
    if (options.strip_default_attrs) strip_defaults(state, node);
  }
}

// Gives nodes and collections the names that they have without the scope.
void select(const Graph::State& state, const Selection& selection, pb::MetaGraphDef& meta) {
  const Rename rename = [&](std::string_view name) { return selection.name(name); };
  const std::vector<std::string> unbound = rename_nodes(*meta.mutable_graph_def(), rename);
  if (meta.graph_def().node().empty() && !selection.scope().empty())
    throw InvalidArgument(cat("there is nothing to export under the scope '", selection.scope(), "'"));
  for (const pb::NodeDef& node : meta.graph_def().node())
    for (const std::string& input : node.input())
      if (const std::string_view name = unbound_name(input); !name.empty() && selection.leaves_out(name))
        throw InvalidArgument(
            cat("node '", node.name(), "' takes '", name,
                "' of a saver that is left out: keep the savers, or export without that node"));
  rename_collections(meta, rename,
                     [&](std::string_view name) { return state.by_name.contains(std::string(name)); });
  if (meta.has_saver_def() && !rename_saver(*meta.mutable_saver_def(), rename)) {
    log_warning(cat("the saver '", meta.saver_def().restore_op_name(), "' is not written: it is outside of '",
                    selection.scope(), "'"));
    meta.clear_saver_def();
  }
  for (const std::string& input : unbound)
    (*meta.mutable_collection_def())[kUnboundInputs].mutable_bytes_list()->add_value(input);
}

// Takes the list of inputs that must be given; all of them must be.
void take_unbound(pb::MetaGraphDef& meta, const std::map<std::string, Output>& given) {
  constexpr std::size_t kListed = 5;
  std::set<std::string> missing;
  const auto at = meta.collection_def().find(kUnboundInputs);
  if (at == meta.collection_def().end()) return;
  for (const std::string& input : at->second.bytes_list().value())
    if (!given.contains(input)) missing.insert(input);
  meta.mutable_collection_def()->erase(kUnboundInputs);
  if (missing.empty()) return;
  std::string text = cat(missing.size(), " inputs are not bound: ");
  std::size_t listed = 0;
  for (const std::string& input : missing) {
    if (listed == kListed) break;
    text += cat(listed++ == 0 ? "" : ", ", shown(input));
  }
  throw InvalidArgument(cat(text, missing.size() > kListed ? ", ..." : "",
                            "; give what they are to take in input_map, by these names"));
}

// "x:1" under "m/" is "m/x:1", "^x" is "^m/x".
std::map<std::string, Output> scoped_inputs(const std::map<std::string, Output>& inputs,
                                            const std::string& scope) {
  std::map<std::string, Output> out;
  for (const auto& [name, output] : inputs)
    out[name.starts_with('^') ? cat("^", scope, name.substr(1)) : scope + name] = output;
  return out;
}

// Puts all names under the scope.
void move_into(const std::string& scope, pb::MetaGraphDef& meta) {
  std::set<std::string, std::less<>> nodes;
  for (const pb::NodeDef& node : meta.graph_def().node()) nodes.insert(node.name());
  const Rename rename = [&](std::string_view name) { return std::optional(cat(scope, name)); };
  rename_nodes(*meta.mutable_graph_def(), rename);
  rename_collections(meta, rename, [&](std::string_view name) { return nodes.contains(name); });
  if (meta.has_saver_def()) rename_saver(*meta.mutable_saver_def(), rename);
}

}  // namespace

std::string export_meta_graph_def(const Graph& graph, const MetaGraphOptions& options) {
  const Graph::State& state = graph.state();
  std::lock_guard hold(state.lock);
  const Selection selection(options);
  pb::MetaGraphDef meta;
  if (selection.is_all()) meta.ParseFromString(state.carried.unknown_meta_fields);
  // The whole graph need not be made a message first.
  const bool straight = selection.is_all() && options.graph_def.empty() && !options.as_text;
  if (!straight) write_graph(state, options, selection, *meta.mutable_graph_def());
  if (!options.saver_def.empty() && !parse_message(options.saver_def, *meta.mutable_saver_def()))
    throw InvalidArgument("the saver_def given is no serialized SaverDef");
  write_collections(state, options, meta);
  if (!selection.is_all()) select(state, selection, meta);
  pb::MetaGraphDef::MetaInfoDef& info = *meta.mutable_meta_info_def();
  write_ops(state, straight ? ops_of(state) : ops_of(meta.graph_def()), *info.mutable_stripped_op_list());
  info.set_tensorflow_version(kTensorflowVersion);
  info.set_stripped_default_attrs(options.strip_default_attrs);
  if (straight) return meta_graph_bytes(state, graph_options(options), meta);
  return options.as_text ? message_text(meta) : message_bytes(meta, "the graph");
}

MetaGraphInfo import_meta_graph_def(Graph& graph, std::string_view meta_graph,
                                    const ImportMetaGraphOptions& options) {
  pb::MetaGraphDef meta;
  read_message(meta_graph, meta, "a MetaGraphDef (a .meta file)");
  if (!meta.has_graph_def())
    throw InvalidArgument("this is not a MetaGraphDef (a .meta file): it holds no graph");
  take_unbound(meta, options.input_map);
  if (options.clear_devices)
    for (auto& node : *meta.mutable_graph_def()->mutable_node()) node.clear_device();
  Graph::State& state = graph.state();
  std::lock_guard hold(state.lock);
  state.require_not_finalized("importing a graph");
  GraphRollback rollback(state);
  std::optional<NameScope> opened;
  if (!options.import_scope.empty()) opened.emplace(graph, options.import_scope);
  const std::string scope = graph.current_scope();
  if (!scope.empty()) move_into(scope, meta);
  TensorBudget budget;
  import_message(state, meta.graph_def(), budget,
                 {.ops = &meta.meta_info_def().stripped_op_list(),
                  .tensors = tensors_named(meta),
                  .inputs = scoped_inputs(options.input_map, scope)});
  import_collections(state, meta);
  if (scope.empty()) take_unknown_fields(meta, state.carried);
  rollback.keep();
  return {meta.has_saver_def() ? message_bytes(meta.saver_def(), "a SaverDef") : "",
          meta.meta_info_def().tensorflow_version(), scope};
}

}  // namespace runnel
