// A check that a step makes while it runs: where a condition does not hold, the step ends with an error that
// shows tensors of the step.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/node.h"
#include "ops/operand.h"

namespace runnel {

struct AssertOptions {
  std::int64_t summarize = 3;  // as many elements of each tensor are shown; all if negative
  std::string name = "Assert";
  Location where = Location::here();
};

// Ends the step if `condition` is false, with an error that shows `data`. The check is made where the
// operation is fetched or another waits for it (with_dependencies).
//
//   condition  bool[]
//   data       T_i[dims_i] each, at least one; say in a string what is wrong, then show the values
//   returns    an operation
//   T_i        any
//   errors     InvalidArgument without data; from Session::run InvalidArgument "assertion failed: [...]"
//   grad       none
//   source     TensorFlow "Assert"; the nodes are NAME/Assert and Consts under it. tf.Assert also puts a
//              conditional around it, so as not to copy data from another device
Operation assert_true(Output condition, const std::vector<Operand>& data, AssertOptions options = {});

}  // namespace runnel
