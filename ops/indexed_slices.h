// Gradients of which only some rows are there (IndexedSlices), made whole or put together.
#pragma once

#include <vector>

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

// The rows of several gradients of one tensor, one after another, which stands for their sum. Indices of two
// dtypes become int64.
//
//   parts    at least one
//   returns  values T[n, ...], indices int32 or int64[n]; the dense shape is the first one's
//   source   what tf.gradients does where such gradients meet
IndexedSlices joined_rows(const std::vector<IndexedSlices>& parts, Location where = Location::here());

}  // namespace runnel
