// Whole graphs with their collections and saver, as `.meta` files hold them (MetaGraphDef, formats 5). The
// saver itself lives in train/; here its description is a string of bytes that goes through.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/dataflow.h"

namespace runnel {

struct MetaGraphOptions {
  std::string saver_def = "";                                // a serialized SaverDef; empty for none
  std::optional<std::vector<std::string>> collections = {};  // keys to write; none: all
  bool clear_devices = false;
  bool strip_default_attrs = false;
  bool as_text = false;
};

// The graph as a MetaGraphDef, with shapes, collections and the signatures of all its ops. A collection whose
// items are of different kinds is left out with a warning. Throws InvalidArgument if it would take 2 GB or
// more.
std::string export_meta_graph_def(const Graph& graph, const MetaGraphOptions& options = {});

// What a MetaGraphDef says beyond nodes and collections.
struct MetaGraphInfo {
  std::string saver_def;  // serialized; empty if there is none
  std::string tensorflow_version;
};

struct ImportMetaGraphOptions {
  bool clear_devices = false;
};

// Adds the nodes and collections of a MetaGraphDef, binary or text. VariableDefs become Variables; items of
// kinds that Runnel does not know (contexts, queue runners) stay strings of bytes. Throws what
// Graph::import_graph_def throws, and InvalidArgument for collections that name nodes which are not there;
// then the graph is as it was.
MetaGraphInfo import_meta_graph_def(Graph& graph, std::string_view meta_graph,
                                    ImportMetaGraphOptions options = {});

}  // namespace runnel
