// What importing any bytes as a `.meta` comes to: a runnel::Error and an empty graph, or a graph that goes
// out and comes in again as it is.
#pragma once

#include <cstdio>
#include <string>

#include "graph/dataflow.h"
#include "graph/error.h"
#include "graph/meta_graph.h"

namespace runnel {

// True if the promise was kept.
inline bool graph_holds(const std::string& bytes) {
  Graph g;
  try {
    import_meta_graph_def(g, bytes);
  } catch (const Error& error) {
    const std::string why = error.what();
    const bool kept = g.size() == 0 && g.collection_keys().empty() && error.code() != Code::kInternal &&
                      why.find('\n') == std::string::npos && !why.empty();
    if (!kept) std::printf("%zu nodes are left after: %s\n", g.size(), error.what());
    return kept;
  }
  const std::string once = export_meta_graph_def(g);
  Graph again;
  import_meta_graph_def(again, once);
  if (export_meta_graph_def(again) == once) return true;
  std::printf("the graph came back different\n");
  return false;
}

}  // namespace runnel
