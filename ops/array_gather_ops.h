// Rows of a tensor picked by number.
#pragma once

#include "ops/operand.h"

namespace runnel {

struct GatherOptions {
  int axis = 0;        // negative: counted from the end
  int batch_dims = 0;  // how many dimensions params and indices share; each entry of them is gathered alone
  std::string name = "";
  Location where = Location::here();
};

// The entries of one dimension that `indices` names, in that order.
//
//   params    T[...]
//   indices   int16, int32 or int64[...]
//   returns   T[params.shape[:axis], indices.shape[batch_dims:], params.shape[axis + 1:]]
//   T         any
//   errors    InvalidArgument if axis is under batch_dims or the shared dimensions differ: here when known,
//             else from Session::run; from there if an index is not in [0, dimension)
//   grad      params; for axis 0 as IndexedSlices
//   source    TensorFlow "GatherV2", tf.gather
Output gather(Operand params, Operand indices, GatherOptions options = {});

}  // namespace runnel
