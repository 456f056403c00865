// Ops that give a tensor's elements another shape, another order, or repeat them.
#pragma once

#include "ops/integers.h"
#include "ops/operand.h"

namespace runnel {

// The same elements under another shape.
//
//   x         T[...]
//   shape     int32 or int64[r]; one dimension may be -1: what is left
//   returns   T[shape]
//   T         any
//   errors    InvalidArgument if the number of elements differs or two dimensions are -1
//   grad      x
//   source    TensorFlow "Reshape"
Output reshape(Operand x, const Integers& shape, OpOptions options = {});

// The same elements with a dimension of 1 put in before `axis` (negative: counted from the end, -1 appends).
//
//   x         T[...]
//   returns   T[..., 1, ...]
//   T         any
//   errors    InvalidArgument if axis is not in [-rank - 1, rank]
//   grad      x
//   source    TensorFlow "ExpandDims"
Output expand_dims(Operand x, int axis, OpOptions options = {});

struct SqueezeOptions {
  std::vector<std::int64_t> axes = {};  // which to drop; none: every dimension of 1
  std::string name = "";
  Location where = Location::here();
};

// The same elements without dimensions of 1.
//
//   x         T[...]
//   returns   T[...]
//   T         any
//   errors    InvalidArgument if a named dimension is not 1 or not there
//   grad      x
//   source    TensorFlow "Squeeze"
Output squeeze(Operand x, SqueezeOptions options = {});

struct TransposeOptions {
  std::vector<std::int64_t> perm = {};  // dimension perm[i] of x becomes dimension i; none: all backwards
  std::string name = "";
  Location where = Location::here();
};

// Dimensions in another order.
//
//   x         T[...]
//   returns   T[x.shape[perm[0]], ...]
//   T         any
//   errors    InvalidArgument if perm is no permutation of x's dimensions
//   grad      x
//   source    TensorFlow "Transpose"
Output transpose(Operand x, TransposeOptions options = {});
Output transpose(Operand x, Output perm, OpOptions options = {});

// Where each number stands: y[x[i]] = i.
//
//   x         T[n], the numbers 0 to n - 1 in some order
//   returns   T[n]
//   T         int32, int64
//   errors    InvalidArgument from Session::run if x is no permutation
//   grad      none: it computes positions
//   source    TensorFlow "InvertPermutation"
Output invert_permutation(Output x, OpOptions options = {});

// The tensor set beside itself multiples[i] times along each dimension i.
//
//   x         T[...]
//   multiples int32 or int64[rank of x]
//   returns   T[x.shape * multiples]
//   T         any
//   errors    InvalidArgument if there is not one multiple a dimension, or one is negative
//   grad      x
//   source    TensorFlow "Tile"
Output tile(Operand x, const Integers& multiples, OpOptions options = {});

// The tensor stretched to a shape by NumPy's rule: dimensions of 1 repeat, new ones come in front.
//
//   x         T[...]
//   shape     int32 or int64[r]
//   returns   T[shape]
//   T         any
//   errors    InvalidArgument if x does not stretch to the shape
//   grad      x
//   source    TensorFlow "BroadcastTo"
Output broadcast_to(Operand x, const Integers& shape, OpOptions options = {});

}  // namespace runnel
