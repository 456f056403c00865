// Shapes as tensors, and tensors made from a shape: shape, size, rank, fill, zeros, ones, range.
#pragma once

#include <string>

#include "ops/integers.h"
#include "ops/operand.h"

namespace runnel {

// Options of the builders that make a number of a type of choice.
struct ShapeOptions {
  DType out_type = DType::kInt32;
  std::string name = "";
  Location where = Location::here();
};

// The shape of a tensor. A Const where the graph knows it already.
//
//   x         T[...]
//   returns   out_type[rank of x]
//   T         any; out_type int32, int64
//   errors    InvalidArgument from Session::run if a dimension does not fit out_type
//   grad      none: it depends on the shape alone
//   source    TensorFlow "Shape", tf.shape
Output shape(Operand x, ShapeOptions options = {});

// The shapes of several tensors of one dtype.
//
//   xs        N * T[...]
//   returns   N * out_type[rank of its x]
//   T         any; out_type int32, int64
//   errors    as `shape`
//   grad      none: it depends on the shapes alone
//   source    TensorFlow "ShapeN"
Outputs shape_n(const Outputs& xs, ShapeOptions options = {});

// How many elements a tensor has. A Const where the graph knows it already.
//
//   x         T[...]
//   returns   out_type[]
//   T         any; out_type int32, int64
//   errors    InvalidArgument from Session::run if the number does not fit out_type
//   grad      none: it depends on the shape alone
//   source    TensorFlow "Size", tf.size
Output size(Operand x, ShapeOptions options = {});

// How many dimensions a tensor has. A Const where the graph knows it already.
//
//   x         T[...]
//   returns   int32[]
//   T         any
//   errors    none
//   grad      none: it depends on the shape alone
//   source    TensorFlow "Rank", tf.rank
Output rank(Operand x, OpOptions options = {});

// A tensor whose elements are all `value`.
//
//   dims      int32 or int64[r]
//   value     T[]; a number is a float
//   returns   T[dims]
//   T         any
//   errors    InvalidArgument if a dimension is negative or `value` is no scalar
//   grad      value
//   source    TensorFlow "Fill"
Output fill(Output dims, Operand value, OpOptions options = {});

// A tensor of zeros (false, empty strings); a Const if it has less than 1000 elements.
//
//   returns   type[shape]
//   errors    InvalidArgument if the shape is not known
//   grad      none: it has no inputs
//   source    tf.zeros
Output zeros(Graph& graph, DType type, const Shape& shape, OpOptions options = {});
template <class T>
Output zeros(Graph& graph, const Shape& shape, OpOptions options = {}) {
  return zeros(graph, dtype_of<T>(), shape, std::move(options));
}

// A tensor of ones (true); a Const if it has less than 1000 elements.
//
//   returns   type[shape]; type: numbers and bool
//   errors    InvalidArgument if the shape is not known or the type has no one
//   grad      none: it has no inputs
//   source    tf.ones
Output ones(Graph& graph, DType type, const Shape& shape, OpOptions options = {});
template <class T>
Output ones(Graph& graph, const Shape& shape, OpOptions options = {}) {
  return ones(graph, dtype_of<T>(), shape, std::move(options));
}

// Zeros of another tensor's shape and dtype.
//
//   x         T[...]
//   returns   T[shape of x]
//   T         any
//   errors    none
//   grad      none: it does not depend on x's values
//   source    TensorFlow "ZerosLike", tf.zeros_like
Output zeros_like(Operand x, OpOptions options = {});

// Ones of another tensor's shape, and of its dtype or the one that is given.
//
//   x         T[...]
//   returns   T[shape of x], or type[shape of x]
//   T, type   numbers, bool
//   errors    InvalidArgument if the type has no one
//   grad      none: it does not depend on x's values
//   source    tf.ones_like
Output ones_like(Operand x, OpOptions options = {});
Output ones_like(Operand x, DType type, OpOptions options = {});

// start + i * delta for i = 0, 1, ... as long as it is before limit.
//
//   start, limit, delta  T[]; numbers take the dtype of the others
//   returns   T[n]
//   T         int8 to int64, uint16 to uint64, float, double (half, bfloat16: not run)
//   errors    InvalidArgument if delta is 0 or leads away from limit
//   grad      none: TensorFlow has none
//   source    TensorFlow "Range"
Output range(Operand start, Operand limit, Operand delta = 1, OpOptions options = {.name = "range"});

}  // namespace runnel
