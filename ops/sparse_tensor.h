// Values of a tensor that is mostly empty, with the place of each: what splitting strings and variable-length
// features give. Ops on sparse tensors are in sparse_ops.h.
#pragma once

#include "graph/node.h"

namespace runnel {

struct SparseTensor {
  Output indices;      // int64[n, rank], row by row ascending
  Output values;       // T[n]
  Output dense_shape;  // int64[rank]
};

}  // namespace runnel
