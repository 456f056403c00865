// Arithmetic on two tensors: the operators + - * / and their named forms, with NumPy's broadcasting. Numbers
// and Tensors become Consts of the other side's dtype; dtypes never convert by themselves but in true
// division of integers, which TensorFlow's Python does by Cast nodes, too. Node names are those of
// TensorFlow's operators and functions (formats 6.1). Left out: complex numbers, half and bfloat16 have specs
// and gradients but no kernels.
#pragma once

#include "ops/operand.h"

namespace runnel {

// Elementwise sum; concatenation of strings by the op "Add", which imported graphs may hold.
//
//   x, y     T[...], shapes that broadcast
//   returns  T[broadcast of both]
//   T        float, double, integers
//   errors   InvalidArgument if shapes or dtypes do not fit: here when known, else from Session::run
//   grad     both inputs, summed over what was stretched
//   source   TensorFlow "AddV2", named `add` by the operator and `Add` by the function
Output operator+(Operand x, Operand y);
Output add(Operand x, Operand y, OpOptions options = {});

// Elementwise difference. As add.  source: TensorFlow "Sub", named `sub` and `Sub`
Output operator-(Operand x, Operand y);
Output subtract(Operand x, Operand y, OpOptions options = {});

// Elementwise product. As add.  source: TensorFlow "Mul", named `mul` and `Mul`
Output operator*(Operand x, Operand y);
Output multiply(Operand x, Operand y, OpOptions options = {});

// Elementwise quotient that is never rounded to an integer.
//
//   x, y     T[...], shapes that broadcast
//   returns  T[...]; for integers double (float for those of 8 and 16 bits)
//   T        float, double, integers
//   errors   as add
//   grad     both inputs
//   source   TensorFlow "RealDiv" named `truediv`, with Casts for integers as tf.truediv makes them
Output operator/(Operand x, Operand y);
Output divide(Operand x, Operand y, OpOptions options = {});

// The same without Casts.  T: float, double.  source: TensorFlow "RealDiv", named `RealDiv`
Output realdiv(Operand x, Operand y, OpOptions options = {});

// Quotient, and 0 where y is 0.  T: float, double.  grad: both, 0 where y is 0.  source: TensorFlow
// "DivNoNan"
Output div_no_nan(Operand x, Operand y, OpOptions options = {});

// Quotient rounded down, and what is left, which has the sign of y.
//
//   x, y     T[...], shapes that broadcast
//   returns  T[...]
//   T        float, double, integers
//   errors   as add; InvalidArgument "Integer division by zero" from Session::run
//   grad     floordiv: none, it is constant but for jumps; floormod: both
//   source   TensorFlow "FloorDiv" named `floordiv`, "FloorMod" named `FloorMod`
Output floordiv(Operand x, Operand y, OpOptions options = {});
Output floormod(Operand x, Operand y, OpOptions options = {});

// (x - y) (x - y). As add.  T: float, double, int32, int64.  source: TensorFlow "SquaredDifference"
Output squared_difference(Operand x, Operand y, OpOptions options = {});

// The larger, or smaller, of each two. NaN where either is. The gradient goes to x where both are equal.
//
//   x, y     T[...], shapes that broadcast
//   returns  T[...]
//   T        float, double, integers
//   errors   as add
//   grad     the input that was chosen
//   source   TensorFlow "Maximum", "Minimum"
Output maximum(Operand x, Operand y, OpOptions options = {});
Output minimum(Operand x, Operand y, OpOptions options = {});

}  // namespace runnel
