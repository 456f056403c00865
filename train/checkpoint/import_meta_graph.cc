// The graph is graph/'s business; here the saver is found and the file read.
#include "train/checkpoint/import_meta_graph.h"

#include <climits>

#include "graph/log.h"
#include "graph/meta_graph.h"
#include "train/checkpoint/checkpoint_files.h"

namespace runnel {
namespace {

std::vector<SaverItem> variables_in(const Graph& graph, const std::string& scope) {
  std::vector<SaverItem> items;
  for (const Variable& variable : graph.variables()) {
    if (!variable.name().starts_with(scope)) continue;
    std::string key = SaverItem(variable).key();
    if (key.starts_with(scope)) key.erase(0, scope.size());
    items.emplace_back(std::move(key), variable);
  }
  return items;
}

std::optional<Saver> saver_of(Graph& graph, const MetaGraphInfo& info, const SaverOptions& options) {
  if (!info.saver_def.empty()) return Saver::from_saver_def(graph, info.saver_def, options);
  if (!graph.variables().empty()) return Saver(graph, options);
  log_info("the meta graph has no saver, and the graph no variables to make one of: there is no Saver");
  return {};
}

std::string read_meta(FileSystem& files, const std::string& path) {
  if (!files.exists(path) && files.exists(meta_path(path)))
    throw NotFound(
        cat("there is no '", path, "': pass '", meta_path(path), "', the graph of that checkpoint"));
  if (const std::uint64_t size = files.file_size(path); size > INT_MAX)
    throw InvalidArgument(cat("'", path, "' has ", size, " bytes: a .meta file has less than 2 GB"));
  return read_file(files, path);
}

}  // namespace

Saver& ImportedMetaGraph::saver() {
  if (!saver_)
    throw InvalidArgument(
        "the meta graph has no saver, and the graph no variables to make one of: nothing can be restored");
  return *saver_;
}

ImportedMetaGraph import_meta_graph_bytes(Graph& graph, std::string_view meta_graph,
                                          const ImportMetaGraphFileOptions& o) {
  const MetaGraphInfo info = import_meta_graph_def(
      graph, meta_graph,
      {.clear_devices = o.clear_devices, .import_scope = o.import_scope, .input_map = o.input_map});
  return {saver_of(graph, info, o.saver), info.scope, variables_in(graph, info.scope)};
}

ImportedMetaGraph import_meta_graph(Graph& graph, const std::string& path,
                                    const ImportMetaGraphFileOptions& o) {
  const std::string bytes = read_meta(o.file_system ? *o.file_system : real_file_system(), path);
  try {
    return import_meta_graph_bytes(graph, bytes, o);
  } catch (const Error& error) {
    throw_error(error.code(), cat("'", path, "': ", error.message()), error.where(), error.node());
  }
}

}  // namespace runnel
