// A graph with its collections and a saver as a `.meta` file. Source: tf.train.export_meta_graph (behaviours
// 10); what goes into it is told in graph/meta_graph.h.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "graph/dataflow.h"
#include "graph/io/file_system.h"

namespace runnel {

struct ExportMetaGraphOptions {
  std::string filename = "";   // empty: nothing is written
  std::string graph_def = "";  // a serialized GraphDef to write in place of the graph's nodes
  std::string saver_def = "";  // a serialized SaverDef; empty for none
  std::optional<std::vector<std::string>> collection_list = {};  // keys; none: all
  bool as_text = false;
  std::string export_scope = "";  // of this scope only, without its name
  bool clear_devices = false;
  bool clear_extraneous_savers = false;  // without nodes and SaverDefs of savers other than `saver_def`
  bool strip_default_attrs = false;
  FileSystem* file_system = nullptr;  // borrowed; none means the machine's files
};

// Returns the MetaGraphDef, binary or text, after it was written: durably and in one piece, its directory
// made if it is missing. Throws what export_meta_graph_def throws, before any file is touched, and what
// FileSystem throws.
std::string export_meta_graph(const Graph& graph, const ExportMetaGraphOptions& options = {});

}  // namespace runnel
