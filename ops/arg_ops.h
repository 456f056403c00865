// Where the largest or smallest element along a dimension is.
#pragma once

#include <string>

#include "graph/dtype.h"
#include "ops/operand.h"

namespace runnel {

struct ArgOptions {
  DType output_type = DType::kInt64;  // or kInt32
  std::string name = "";
  Location where = Location::here();
};

// The index of the largest element along dimension `axis`; of equal ones the first.
//
//   input    T[dims]
//   axis     the dimension, from the end if negative
//   returns  output_type[dims without axis]
//   T        float, double, the integers, bool
//   errors   InvalidArgument if there is no such dimension: here if the rank is known; if it is empty: from
//            Session::run
//   grad     none
//   source   TensorFlow "ArgMax"
Output argmax(Output input, int axis, ArgOptions options = {});

// The index of the smallest element; else as argmax.
//
//   source   TensorFlow "ArgMin"
Output argmin(Output input, int axis, ArgOptions options = {});

}  // namespace runnel
