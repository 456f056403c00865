// Going on with a graph from a `.meta` file: its nodes, collections and saver. Source:
// tf.train.import_meta_graph (behaviours 10).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/io/file_system.h"
#include "train/checkpoint/saver.h"

namespace runnel {

struct ImportMetaGraphFileOptions {
  bool clear_devices = false;
  // All names go under it, made unique; "m/" re-opens that scope. Empty: the scope that is open, or the root.
  std::string import_scope = "";
  // Outputs of the graph that nodes take in place of the file's "x", "x:1" or, to wait for them, "^x".
  std::map<std::string, Output> input_map = {};
  FileSystem* file_system = nullptr;  // borrowed; none means the machine's files
  SaverOptions saver = {};            // what the file does not say
};

// What an import brought. `Saver saver = import_meta_graph(...)` takes the saver out of it.
class ImportedMetaGraph {
 public:
  ImportedMetaGraph(std::optional<Saver> saver, std::string scope, std::vector<SaverItem> variables)
      : saver_(std::move(saver)), scope_(std::move(scope)), variables_(std::move(variables)) {}

  // False if the file has no saver and the graph no variables to make one of.
  bool has_saver() const { return saver_.has_value(); }
  // Both throw InvalidArgument if there is none.
  Saver& saver();
  operator Saver() && { return std::move(saver()); }

  const std::string& scope() const { return scope_; }  // "m/", or "" for the root
  // The global variables of the scope under their names without it, so that a Saver of them reads and writes
  // the checkpoints of the graph as it was.
  const std::vector<SaverItem>& variables() const { return variables_; }

 private:
  std::optional<Saver> saver_;
  std::string scope_;
  std::vector<SaverItem> variables_;
};

// Adds the graph and the collections of a `.meta` file, and gives the saver in it, or a new one of all
// variables of the graph; a line is logged if there is neither. Throws NotFound, and what
// import_meta_graph_def throws (with the path in front; then the graph is as it was).
ImportedMetaGraph import_meta_graph(Graph& graph, const std::string& path,
                                    const ImportMetaGraphFileOptions& options = {});

// The same from a MetaGraphDef, binary or text. `options.file_system` is not looked at.
ImportedMetaGraph import_meta_graph_bytes(Graph& graph, std::string_view meta_graph,
                                          const ImportMetaGraphFileOptions& options = {});

}  // namespace runnel
