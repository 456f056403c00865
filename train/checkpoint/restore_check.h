// Whether a checkpoint has what a restore operation will read, before anything is assigned. What it will read
// is taken from the graph: from the operation back to the assignments, and from each back to a RestoreV2
// node. So a saver that TensorFlow made is checked like our own.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "graph/dataflow.h"
#include "train/checkpoint/checkpoint_reader.h"

namespace runnel {

// One tensor that a restore operation reads into one variable.
struct RestoredTensor {
  std::string key;       // its name in the file
  std::string variable;  // the name of the variable's node
  DType dtype = DType::kInvalid;
  Shape shape;                          // the variable's, as far as known; unknown if any will do
  std::optional<SliceSpec> slice = {};  // of a variable that is a part
  bool reshapes = false;                // only the number of elements counts
};

// Sorted by key. Names that are not constants of the graph are passed over.
std::vector<RestoredTensor> restored_by(Operation restore);

// Throws an error with a line a difference, and what is in the file but not wanted, if a tensor is missing
// (NotFound) or is stored with another dtype or shape (InvalidArgument).
void require_restorable(const CheckpointReader& reader, const std::vector<RestoredTensor>& wanted);

}  // namespace runnel
