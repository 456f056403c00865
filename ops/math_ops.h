// Mathematics on one tensor, conversion between dtypes, sums of several tensors and matrix products.
// Arithmetic on two tensors is in arithmetic_ops.h, comparisons and selection in comparison_ops.h, sums along
// axes in reduction_ops.h; all of them come with this header. Source: TensorFlow's math_ops; node names as
// its Python functions give them.
#pragma once

#include <string>
#include <vector>

#include "graph/node.h"
#include "ops/arithmetic_ops.h"
#include "ops/comparison_ops.h"
#include "ops/operand.h"
#include "ops/reduction_ops.h"

namespace runnel {

// -x.
//
//   x        T[...]
//   returns  T[...]
//   T        float, double, signed integers
//   errors   none; the lowest integer stays as it is
//   grad     x
//   source   TensorFlow "Neg"
Output operator-(Operand x);
Output negative(Operand x, OpOptions options = {});

// |x|, and the sign of x as -1, 0 or 1 (NaN stays).
//
//   x        T[...]
//   returns  T[...]
//   T        float, double, signed integers
//   errors   none
//   grad     abs: x, 0 where x is 0; sign: x, zeros
//   source   TensorFlow "Abs", "Sign"
Output abs(Operand x, OpOptions options = {});
Output sign(Operand x, OpOptions options = {});

// x x.
//
//   x        T[...]
//   returns  T[...]
//   T        float, double, integers
//   errors   none
//   grad     x
//   source   TensorFlow "Square"
Output square(Operand x, OpOptions options = {});

// Square root, its reciprocal, 1 / x, e^x and the natural logarithm.
//
//   x        T[...]
//   returns  T[...]; NaN outside of the domain
//   T        float, double
//   errors   none
//   grad     x
//   source   TensorFlow "Sqrt", "Rsqrt", "Reciprocal", "Exp", "Log"
Output sqrt(Operand x, OpOptions options = {});
Output rsqrt(Operand x, OpOptions options = {});
Output reciprocal(Operand x, OpOptions options = {});
Output exp(Operand x, OpOptions options = {});
Output log(Operand x, OpOptions options = {});

// Hyperbolic tangent and 1 / (1 + e^-x).
//
//   x        T[...]
//   returns  T[...]
//   T        float, double
//   errors   none
//   grad     x
//   source   TensorFlow "Tanh", "Sigmoid"
Output tanh(Operand x, OpOptions options = {});
Output sigmoid(Operand x, OpOptions options = {});

// The elements converted as C does: fractions are cut, a bool is 0 or 1, what is not 0 is true. A float out
// of an integer's range gives what x86 gives. The tensor itself if it has that dtype.
//
//   x        S[...]
//   returns  D[...]
//   S, D     float, double, integers, bool
//   errors   none
//   grad     x, between floating dtypes
//   source   TensorFlow "Cast"
Output cast(Operand x, DType type, OpOptions options = {});
template <class T>
Output cast(Operand x, OpOptions options = {}) {
  return cast(x, dtype_of<T>(), options);
}

// The sum of all tensors, in order; one tensor is returned as it is.
//
//   inputs   T[...], all of one shape
//   returns  T[...]
//   T        float, double, integers
//   errors   InvalidArgument if there is none or shapes differ: here when known, else from Session::run
//   grad     every input
//   source   TensorFlow "AddN"
Output add_n(const Outputs& inputs, OpOptions options = {});

struct MatMulOptions {
  bool transpose_a = false;
  bool transpose_b = false;
  std::string name = "MatMul";
  Location where = Location::here();
};

// Matrix product of `a` and `b`, each first transposed if its flag is set.
//
//   a        T[m, k]  (T[k, m] if transpose_a)
//   b        T[k, n]  (T[n, k] if transpose_b)
//   returns  T[m, n]; zeros when k is 0
//   T        float, double, int16, int32, int64
//   errors   InvalidArgument if an input is not a matrix or the two k differ: here when
//            both are known, else from Session::run
//   grad     both inputs
//   source   TensorFlow "MatMul", same attrs
Output matmul(Operand a, Operand b, MatMulOptions options = {});

}  // namespace runnel
