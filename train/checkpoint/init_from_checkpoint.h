// Starting a new model from an old one's checkpoint: variables get initial values that are read from it, when
// the operation that initialises them runs. The nodes are those of tf.train.init_from_checkpoint.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "graph/dataflow.h"
#include "graph/io/file_system.h"

namespace runnel {

// What takes a tensor of a checkpoint: a variable, by its name or itself; the parts of a partitioned one, by
// the name of the whole or themselves; or a scope, "new/" or "/" for the root, which takes those of a scope.
class AssignmentTarget {
 public:
  AssignmentTarget(std::string name) : name_(std::move(name)) {}
  AssignmentTarget(const char* name) : name_(name) {}
  AssignmentTarget(Variable variable) : variables_{std::move(variable)} {}
  AssignmentTarget(std::vector<Variable> parts) : variables_(std::move(parts)) {}

  const std::string& name() const { return name_; }  // empty where variables are given
  const std::vector<Variable>& variables() const { return variables_; }

 private:
  std::string name_;
  std::vector<Variable> variables_;
};

// {"name in the checkpoint", target}, or {"old/", "new/"}, where each variable in new/ takes what has its
// name in old/. "/" is the root. One tensor may go to several variables.
using AssignmentMap = std::vector<std::pair<std::string, AssignmentTarget>>;

struct InitFromCheckpointOptions {
  FileSystem* file_system = nullptr;  // borrowed; none means the machine's files
  Location where = Location::here();
};

// Replaces the initializers of variables by ones that read the checkpoint (a directory's latest, or a
// prefix). Call it after the variables are made and before initialize_global_variables. Nothing is read but
// the index until that runs, in a session with these files. Everything is checked before the graph is
// changed; an error has a line for each difference. Throws NotFound for tensors that are not in the
// checkpoint, InvalidArgument for variables of another dtype or shape, names that are none and a scope mapped
// to a name; what load_checkpoint throws.
void init_from_checkpoint(Graph& graph, const std::string& directory_or_prefix, const AssignmentMap& map,
                          InitFromCheckpointOptions options = {});

}  // namespace runnel
