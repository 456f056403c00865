// How often the input is gone through. TensorFlow's tf.train.limit_epochs (behaviours 6.3).
#pragma once

#include <cstdint>
#include <optional>

#include "graph/node.h"
#include "ops/operand.h"

namespace runnel {

// `tensor` again, as often as `num_epochs` says.
//
//   tensor      T[dims]
//   num_epochs  how often it may be read; none: for ever, and no node is added
//   returns     T[dims]
//   T           any
//   errors      InvalidArgument if num_epochs is below 1; from Session::run OutOfRange after the last
//               time, and FailedPrecondition before the counter, the local variable NAME/epochs, is
//               initialised
//   grad        as Identity
//   source      tf.train.limit_epochs
Output limit_epochs(Output tensor, std::optional<std::int64_t> num_epochs = {}, OpOptions options = {});

}  // namespace runnel
