// The nodes that a saver adds to a graph, TensorFlow's by name and attribute (formats 5.4), and the SaverDef
// that tells which of them to feed, fetch and run.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/dataflow.h"
#include "train/checkpoint/save_restore_ops.h"

namespace runnel {

// A variable and the name it has in the file; without one, its own. The parts of a partitioned variable go by
// one name, each an item, and are saved as parts of one tensor.
class SaverItem {
 public:
  SaverItem(Variable variable) : variable_(std::move(variable)) {}
  SaverItem(std::string name, Variable variable) : name_(std::move(name)), variable_(std::move(variable)) {}
  // A variable as a part of a larger tensor, whatever it was made as.
  SaverItem(const Variable& variable, SaveSlice part);

  const Variable& variable() const { return variable_; }
  // The name given, or the variable's, or that of the whole that the variable is a part of.
  const std::string& key() const;

 private:
  std::string name_;
  Variable variable_;
};

// What is read for the item: its key, and which part of the tensor. Throws InvalidArgument if a part does not
// lie within its whole.
CheckpointKey checkpoint_key(const SaverItem& item);

// Adds what gives the variable a value that was read: an Assign, or an Identity and an AssignVariableOp.
// `reshaped`: the value may have another shape than the variable had.
Operation add_restoring_assign(const Variable& variable, Output value, bool reshaped, Location where);

// What a saver needs of its graph.
struct SaverNodes {
  Output filename;    // to be fed with the prefix
  Output save;        // fetched, it saves
  Operation restore;  // run, it restores
};

struct SaverNodesOptions {
  std::string name = "save";       // the scope
  bool reshape = false;            // restored values take the variables' shapes
  bool sharded = false;            // the variables of each device are written as a part, and then joined
  std::string filename = "model";  // the prefix when none is fed
  Location where = {};
};

// Throws InvalidArgument if there is no variable, if two have one name (and are not parts of one tensor), if
// one is there twice, and if a part does not lie within its whole.
SaverNodes add_saver_nodes(Graph& graph, std::vector<SaverItem> items, const SaverNodesOptions& options);

// A SaverDef as a plain struct. `bytes` is what `.meta` files hold.
struct SaverDef {
  std::string filename_tensor, save_tensor, restore_op;
  int max_to_keep = 0;  // 0: all
  float keep_checkpoint_every_n_hours = 0;
  bool sharded = false;

  // Throws DataLoss for bytes that are none, Unimplemented for one of V1 checkpoints.
  // Names that are not given are InvalidArgument.
  static SaverDef parse(std::string_view bytes);
  std::string bytes() const;
  // With its names put into a scope; "" changes nothing.
  SaverDef within(std::string_view scope) const;
  // With its names as seen from inside a scope; none if one is not in it.
  std::optional<SaverDef> without(std::string_view scope) const;
};

// The nodes that a SaverDef names. Throws InvalidArgument if one is not there or no such node.
SaverNodes find_saver_nodes(const Graph& graph, const SaverDef& def);

}  // namespace runnel
