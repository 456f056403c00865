// Gradients of which only some rows are there (IndexedSlices), made whole.
#pragma once

#include "graph/node.h"
#include "graph/shape.h"

namespace runnel {

// The gradient as a tensor: rows with the same index are summed, the others are 0.
//
//   slices   values T[n, ...], indices int32 or int64[n]
//   shape    of the result, as far as known; a first dimension not known is taken from slices.dense_shape
//   returns  T[shape]
//   errors   Unimplemented if neither tells the first dimension
//   source   TensorFlow "UnsortedSegmentSum"
Output to_dense(const IndexedSlices& slices, const Shape& shape, Location where = Location::here());

// The same for any gradient that is not none.
Output to_dense(const Grad& gradient, const Shape& shape, Location where = Location::here());

}  // namespace runnel
