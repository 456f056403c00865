// Running sums and products along an axis. Source: TensorFlow's math_ops. Left out: the running logarithm of
// a sum of exponentials.
#pragma once

#include "ops/operand.h"

namespace runnel {

struct ScanOptions {
  bool exclusive = false;  // without the element itself: 0, x0, x0 + x1, ...
  bool reverse = false;    // from the end
  std::string name = "";
  Location where = Location::here();
};

// Each element with all before it along the axis added up, or multiplied.
//
//   x        T[...]
//   axis     in [-rank, rank); or int32 or int64[]
//   returns  T[shape of x]
//   T        float, double, integers, which wrap around
//   errors   InvalidArgument if x has no such axis: here when known, else from Session::run
//   grad     x; the product's is 0 where x is, as TensorFlow's
//   source   TensorFlow "Cumsum", "Cumprod"
Output cumsum(Operand x, int axis = 0, ScanOptions options = {});
Output cumsum(Operand x, Output axis, ScanOptions options = {});
Output cumprod(Operand x, int axis = 0, ScanOptions options = {});
Output cumprod(Operand x, Output axis, ScanOptions options = {});

}  // namespace runnel
