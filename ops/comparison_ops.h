// Comparing, logic on bools, and choosing by a bool. Source: TensorFlow's math_ops and array_ops. Left out:
// NumPy's broadcasting of a condition in `select` itself, which is select_v2.
#pragma once

#include "ops/operand.h"

namespace runnel {

// Compares elements, with NumPy's broadcasting. With NaN everything is false but not_equal.
//
//   x, y     T[...], shapes that broadcast
//   returns  bool[broadcast of both]
//   T        float, double, integers; equal and not_equal also bool and string
//   errors   InvalidArgument if shapes or dtypes do not fit: here when known, else from Session::run
//   grad     none: returns bool
//   source   TensorFlow "Equal", "NotEqual", "Less", "LessEqual", "Greater", "GreaterEqual"
Output equal(Operand x, Operand y, OpOptions options = {});
Output not_equal(Operand x, Operand y, OpOptions options = {});
Output less(Operand x, Operand y, OpOptions options = {});
Output less_equal(Operand x, Operand y, OpOptions options = {});
Output greater(Operand x, Operand y, OpOptions options = {});
Output greater_equal(Operand x, Operand y, OpOptions options = {});

// Logic on bools, with NumPy's broadcasting.
//
//   x, y     bool[...]
//   returns  bool[broadcast of both]
//   errors   as equal
//   grad     none: returns bool
//   source   TensorFlow "LogicalAnd", "LogicalOr", "LogicalNot"
Output logical_and(Operand x, Operand y, OpOptions options = {});
Output logical_or(Operand x, Operand y, OpOptions options = {});
Output logical_not(Operand x, OpOptions options = {});

// `t` where the condition holds, else `e`.
//
//   condition  bool of t's shape; or bool[] for all; or bool[n], one for each row of t
//   t, e       T[...] of one shape
//   returns    T[...]
//   T          any that has a size, and string
//   errors     InvalidArgument if shapes do not fit: here when known, else from Session::run
//   grad       t and e
//   source     TensorFlow "Select", which tf.where with three arguments makes
Output select(Operand condition, Operand t, Operand e, OpOptions options = {});

// The same with NumPy's broadcasting among all three.  grad: t and e.  source: TensorFlow "SelectV2"
Output select_v2(Operand condition, Operand t, Operand e, OpOptions options = {});

}  // namespace runnel
