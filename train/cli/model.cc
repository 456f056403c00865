// The name's ending tells the kind; the bytes tell binary from text.
#include "train/cli/model.h"

namespace runnel {

std::string load_model(Graph& graph, const std::string& path) {
  const bool meta = path.ends_with(".meta") || path.ends_with(".meta.txt");
  if (!meta && !path.ends_with(".pb") && !path.ends_with(".pbtxt"))
    throw InvalidArgument(cat(path, ": a model is a .meta, or a GraphDef as .pb or .pbtxt"));
  const std::string bytes = read_file(real_file_system(), path);
  try {
    if (meta) return import_meta_graph_def(graph, bytes).saver_def;
    graph.import_graph_def(bytes);
    return "";
  } catch (const Error& error) {
    throw_error(error.code(), cat(path, ": ", error.message()), error.where(), error.node());
  }
}

}  // namespace runnel
