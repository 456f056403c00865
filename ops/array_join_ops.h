// Ops that put tensors together along a dimension, and take them apart again.
#pragma once

#include "ops/integers.h"
#include "ops/operand.h"

namespace runnel {

struct StackOptions {
  int axis = 0;  // where the new dimension is; negative: counted from the end of the result
  std::string name = "";
  Location where = Location::here();
};

// Tensors of one shape as the entries of a new dimension.
//
//   values    N * T[...], at least one
//   returns   T[..., N, ...]
//   T         any
//   errors    InvalidArgument if shapes differ or axis is not in [-rank - 1, rank]
//   grad      all values
//   source    TensorFlow "Pack", tf.stack
Output stack(const Outputs& values, StackOptions options = {});

// Scalars and numbers as a vector, such as a shape that is known in part: stack_scalars({size(x), 3}).
// Numbers take the dtype of the first tensor.
//
//   values    N * T[], at least one of them a tensor
//   returns   T[N]
//   T         any
//   errors    InvalidArgument if none is a tensor
//   grad      all values
//   source    TensorFlow "Pack", tf.stack
Output stack_scalars(const std::vector<Operand>& values, StackOptions options = {});

// The entries of one dimension as tensors of their own.
//
//   x         T[..., N, ...]
//   returns   N * T[...]
//   T         any
//   errors    InvalidArgument if N is not known or axis is not in [-rank, rank)
//   grad      x
//   source    TensorFlow "Unpack", tf.unstack
Outputs unstack(Operand x, StackOptions options = {});

// Tensors one after another along a dimension that they have.
//
//   values    N * T[...], at least one, equal but for dimension `axis`
//   axis      negative: counted from the end
//   returns   T[..., sum, ...]; of a single tensor an Identity
//   T         any
//   errors    InvalidArgument for scalars, other dimensions that differ, or axis not in [-rank, rank)
//   grad      all values
//   source    TensorFlow "ConcatV2", tf.concat
Output concat(const Outputs& values, int axis, OpOptions options = {});
Output concat(const Outputs& values, Output axis, OpOptions options = {});

// A tensor cut into parts along a dimension: equal ones, or of the given sizes (one may be -1: what is left).
//
//   x         T[..., n, ...]
//   returns   the parts, T[..., n / parts, ...] or T[..., sizes[i], ...]
//   T         any
//   errors    InvalidArgument if n is not a multiple of `parts`, or the sizes do not add up to n
//   grad      x
//   source    TensorFlow "Split", "SplitV", tf.split
Outputs split(Operand x, int parts, int axis = 0, OpOptions options = {});
Outputs split_by(Operand x, const std::vector<std::int64_t>& sizes, int axis = 0, OpOptions options = {});

// Rows of `data` put where `indices` says; where two say the same, the later one stays, where none does,
// zeros.
//
//   indices   N * int32[...]
//   data      N * T[shape of its indices..., row...]
//   returns   T[highest index + 1, row...]
//   T         any
//   errors    InvalidArgument for negative indices, or rows of different shapes
//   grad      data
//   source    TensorFlow "DynamicStitch"
Output dynamic_stitch(const Outputs& indices, const Outputs& data, OpOptions options = {});

}  // namespace runnel
