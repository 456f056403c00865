// A graph from a file, whichever kind it is.
#pragma once

#include <string>

#include "graph/graph.h"

namespace runnel {

// Adds the graph of a `.meta` (MetaGraphDef) or of a `.pb` or `.pbtxt` (GraphDef). Errors begin with the
// path. Returns the serialized SaverDef of a `.meta`; empty if there is none.
std::string load_model(Graph& graph, const std::string& path);

}  // namespace runnel
