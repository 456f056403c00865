// Conditionals of the dataflow kind: Switch lets a tensor through on one side and makes the other side dead,
// every op with a dead input is skipped, and Merge takes whichever of its inputs is alive. The session does
// all of this itself; there are no kernels. Loops (Enter, Exit, NextIteration, LoopCond) can be imported and
// exported, not run.
#pragma once

#include "graph/node.h"
#include "ops/operand.h"

namespace runnel {

struct Switched {
  Output if_false, if_true;
};

// `data` on the side that `pred` chooses; the other side is dead.
//
//   data     T[dims]; the ref of a variable stays one
//   pred     bool[]
//   returns  T[dims] twice
//   T        any
//   errors   InvalidArgument if pred is no scalar: here if known, else from Session::run
//   grad     data: the gradients of both sides, merged
//   source   TensorFlow "Switch", "RefSwitch"
Switched switch_tensor(Output data, Output pred, OpOptions options = {});

struct Merged {
  Output output, value_index;
};

// The input that is alive, and which one that is. Dead if all are.
//
//   inputs   T[dims_i] each
//   returns  T[...] with the dimensions in which all inputs agree; int32[]
//   T        any
//   errors   InvalidArgument without inputs or with different dtypes
//   grad     the input that was taken
//   source   TensorFlow "Merge", "RefMerge" if all inputs are refs
Merged merge(const Outputs& inputs, OpOptions options = {});

}  // namespace runnel
