// Products of many matrices at once. Source: tf.matmul of tensors over rank 2. Left out: conjugates, since
// complex numbers have no kernel.
#pragma once

#include <string>

#include "ops/operand.h"

namespace runnel {

struct BatchMatMulOptions {
  bool adj_x = false;
  bool adj_y = false;
  std::string name = "MatMul";
  Location where = Location::here();
};

// Matrix products of the last two dimensions, each first transposed if its flag is set; the dimensions before
// them stretch as NumPy's do.
//
//   x        T[..., m, k]  (T[..., k, m] if adj_x)
//   y        T[..., k, n]  (T[..., n, k] if adj_y)
//   returns  T[broadcast of the dimensions before, m, n]; zeros when k is 0
//   T        float, double, int16, int32, int64
//   errors   InvalidArgument if a rank is under 2, the two k differ or the other dimensions do not fit: here
//            when known, else from Session::run
//   grad     both inputs
//   source   TensorFlow "BatchMatMulV2"
Output batch_matmul(Operand x, Operand y, BatchMatMulOptions options = {});

}  // namespace runnel
