// Parts of tensors, and tensors with a border: slice, strided slice, pad.
#pragma once

#include <optional>

#include "graph/slicing.h"
#include "ops/integers.h"
#include "ops/operand.h"

namespace runnel {

// The box of `size` elements from `begin`.
//
//   x         T[...]
//   begin     int32 or int64[rank of x]
//   size      the same type; -1: all that is left
//   returns   T[size]
//   T         any
//   errors    InvalidArgument if the box is not inside x
//   grad      x
//   source    TensorFlow "Slice"
Output slice(Operand x, const Integers& begin, const Integers& size, OpOptions options = {});

struct StridedSliceOptions {
  SliceMasks masks = {};
  std::string name = "";
  Location where = Location::here();
};

// What x[begin:end:strides, ...] is in NumPy.
//
//   x         T[...]
//   begin, end, strides  int32 or int64[n], n <= rank of x but for new axes
//   returns   T[...]
//   T         any
//   errors    InvalidArgument for strides of 0, single indices out of range, too many positions; ranges are
//   cut grad      x source    TensorFlow "StridedSlice", same masks
Output strided_slice(Operand x, const Integers& begin, const Integers& end, const Integers& strides,
                     StridedSliceOptions options = {});

// vector[begin:end], with the nodes that Python's subscript makes; a bound that is left out is the vector's.
// Negative ones count from the end.
//
//   vector    T[n]
//   returns   T[...]
//   T         any
//   errors    none: ranges are cut
//   grad      vector
//   source    TensorFlow "StridedSlice"
Output subvector(Output vector, std::optional<int> begin, std::optional<int> end,
                 Location where = Location::here());

// The tensor with paddings[d][0] elements of `value` before and paddings[d][1] after along each dimension d.
//
//   x         T[...]
//   paddings  int32 or int64[rank of x, 2]
//   returns   T[...]
//   T         any
//   errors    InvalidArgument if paddings has another shape or a number < 0
//   grad      x
//   source    TensorFlow "Pad"
Output pad(Operand x, Operand paddings, OpOptions options = {});

}  // namespace runnel
