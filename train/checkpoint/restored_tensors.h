// What a restore operation will read, and into which variables: taken from the graph, from the operation back
// to the assignments, and from each back to a RestoreV2 node. So a saver that TensorFlow made is known as
// well as our own.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "graph/dataflow.h"
#include "train/checkpoint/tensor_slice.h"

namespace runnel {

// One tensor that a restore operation reads into one variable.
struct RestoredTensor {
  std::string key;       // its name in the file
  std::string variable;  // the name of the variable's node
  DType dtype = DType::kInvalid;
  Shape shape;                          // the variable's, as far as known; unknown if any will do
  std::optional<SliceSpec> slice = {};  // of a variable that is a part
  bool reshapes = false;                // only the number of elements counts
  Output value = {};                    // of the RestoreV2 node
  Operation assign = {};
  const Node* node = nullptr;  // the variable's
};

struct RestoredTensors {
  std::vector<RestoredTensor> list;  // sorted by key
  // The operation does nothing else than to give the variables what the file has under these keys, so that it
  // need not run.
  bool all = true;
};

// Reading the files that `filename` names. Names that are not constants of the graph are passed over.
RestoredTensors restored_by(Operation restore, Output filename);

}  // namespace runnel
