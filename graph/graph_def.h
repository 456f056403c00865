// GraphDef as a message, in and out; for the files of graph/ that read and write graphs. Programs use the
// members of Graph. What a GraphDef holds and how foreign graphs are treated: graph/README.md.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "graph/dataflow_state.h"
#include "graph/tensor_proto.h"

namespace runnel {
namespace pb {
class GraphDef;
class NodeDef;
class OpList;
}  // namespace pb

// Puts the graph back as it was when this was made, unless `keep` is called: nodes, names, collections,
// libraries. Requires: the state's lock is held as long as this lives.
class GraphRollback {
 public:
  explicit GraphRollback(Graph::State& state);
  ~GraphRollback();
  GraphRollback(const GraphRollback&) = delete;
  GraphRollback& operator=(const GraphRollback&) = delete;
  void keep() { keep_ = true; }

 private:
  Graph::State& state_;
  bool keep_ = false;
  std::size_t nodes_;
  std::unordered_map<std::string, int> names_;
  std::map<std::string, Collection, std::less<>> collections_;
  std::vector<std::string> own_ops_;  // keys
  CarriedMessages carried_;
};

struct ImportNotes {
  const pb::OpList* ops = nullptr;  // signatures stated by the file (stripped_op_list)
  // Tensors that the file names elsewhere (collections), so that a node nothing describes gets enough
  // outputs.
  std::vector<std::string> tensors = {};
  // What nodes take in place of the inputs of these names ("x:0", "^x"): outputs that the graph has already.
  std::map<std::string, Output> inputs = {};
};

// Adds the graph. Requires: the state's lock is held and a GraphRollback lives. Throws InvalidArgument.
void import_message(Graph::State& state, const pb::GraphDef& def, TensorBudget& budget,
                    const ImportNotes& notes = {});

// True for the name of a node that is to be written; empty for all nodes.
using NodeFilter = std::function<bool(std::string_view)>;

void export_message(const Graph::State& state, const GraphDefOptions& options, pb::GraphDef& def,
                    const NodeFilter& wanted = {});

// Its parts: all but the nodes (refused where their constants take over 2 GB), a node, and what of its
// attributes goes out.
void export_rest(const Graph::State& state, const std::vector<const Node*>& nodes, pb::GraphDef& def);
void write_node(const Node& node, const GraphDefOptions& options, pb::NodeDef& def);
inline constexpr std::string_view kOutputShapes = "_output_shapes";  // made for the file, never kept
bool is_written(const Node& node, const std::string& attr, const AttrValue& value,
                const GraphDefOptions& options);
// What is known of an output from its op's shape function and from the file that the node came with. The
// file's word is written again but never used: a plan that believed it could be made to write outside of its
// memory.
Shape shape_to_write(const Node& node, int i);

// Removes attributes that have their op's default.
void strip_defaults(const Graph::State& state, pb::NodeDef& node);

}  // namespace runnel
