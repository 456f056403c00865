// What importing any bytes as a `.meta` comes to: a runnel::Error and an empty graph, or a graph that goes
// out and comes in again as it is; and the same under a scope.
#pragma once

#include <cstdio>
#include <string>

#include "graph/dataflow.h"
#include "graph/error.h"
#include "graph/meta_graph.h"

namespace runnel {

inline bool graph_holds_at_root(const std::string& bytes) {
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

// Names, ops and inputs, one node a line.
inline std::string listing(const Graph& g) {
  std::string text;
  for (const Node* node : g.nodes()) {
    text.append(node->name()).append(" ").append(node->op());
    for (const Output& input : node->input_list()) text.append(" ").append(input.name());
    for (const Node* control : node->control_inputs()) text.append(" ^").append(control->name());
    text += "\n";
  }
  return text;
}

// The listing after an import at the root; empty if it is refused.
inline std::string listing_of(const std::string& bytes) {
  Graph g;
  try {
    import_meta_graph_def(g, bytes);
  } catch (const Error&) {
    return "";
  }
  return listing(g);
}

// The same under a scope of a graph that holds something: as it was, or cut out again the graph that was put
// in (a name may be good under a scope that is not at the root).
inline bool graph_holds_under_scope(const std::string& bytes) {
  Graph g;
  g.add("NoOp", {}, {}, "there");
  g.add_to_collection("k", std::int64_t{1});
  try {
    import_meta_graph_def(g, bytes, {.import_scope = "s"});
  } catch (const Error& error) {
    const bool kept = g.size() == 1 && g.collection_keys().size() == 1 && error.code() != Code::kInternal;
    if (!kept) std::printf("%zu nodes are left under the scope after: %s\n", g.size(), error.what());
    return kept;
  }
  if (g.size() == 1) return true;
  const std::string before = listing_of(bytes),
                    after = listing_of(export_meta_graph_def(g, {.export_scope = "s"}));
  if (before.empty() || before == after) return true;
  std::printf("the graph came back from its scope different\n");
  return false;
}

// True if the promise was kept.
inline bool graph_holds(const std::string& bytes) {
  return graph_holds_at_root(bytes) && graph_holds_under_scope(bytes);
}

}  // namespace runnel
