// Which savers are in a graph is told by their save and restore ops; a saver's nodes lie in one scope.
#include "train/checkpoint/export_meta_graph.h"

#include <set>

#include "graph/meta_graph.h"
#include "train/checkpoint/saver_graph.h"

namespace runnel {
namespace {

// Also those of V1 checkpoints, which are kept as nodes that do not run.
bool saves_or_restores(const std::string& op) {
  static const std::set<std::string, std::less<>> kOps{"SaveV2",     "RestoreV2", "Save",
                                                       "SaveSlices", "Restore",   "RestoreSlice"};
  return kOps.contains(op);
}

// "a/save" of "a/save/SaveV2" and "a/save/Const:0"; "" of a name at the root.
std::string scope_of(const std::string& name) {
  const std::size_t slash = name.rfind('/');
  return slash == std::string::npos ? "" : name.substr(0, slash);
}

std::vector<std::string> scopes_of_other_savers(const Graph& graph, const std::string& saver_def) {
  std::set<std::string> scopes;
  for (const Node* node : graph.nodes())
    if (saves_or_restores(node->op())) scopes.insert(scope_of(node->name()));
  scopes.erase("");
  if (!saver_def.empty()) {
    const SaverDef kept = SaverDef::parse(saver_def);
    scopes.erase(scope_of(kept.save_tensor));
    scopes.erase(scope_of(kept.restore_op));
  }
  return {scopes.begin(), scopes.end()};
}

}  // namespace

std::string export_meta_graph(const Graph& graph, const ExportMetaGraphOptions& o) {
  MetaGraphOptions options{.saver_def = o.saver_def,
                           .collections = o.collection_list,
                           .graph_def = o.graph_def,
                           .export_scope = o.export_scope,
                           .clear_devices = o.clear_devices,
                           .strip_default_attrs = o.strip_default_attrs,
                           .as_text = o.as_text};
  if (o.clear_extraneous_savers) options.left_out_scopes = scopes_of_other_savers(graph, o.saver_def);
  const std::string bytes = export_meta_graph_def(graph, options);
  if (o.filename.empty()) return bytes;
  FileSystem& files = o.file_system ? *o.file_system : real_file_system();
  make_directories(files, parent_of(o.filename));
  write_file_atomically(files, o.filename, bytes);
  return bytes;
}

}  // namespace runnel
