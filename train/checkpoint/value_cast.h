// Values of one dtype as another, for restores that are told to convert. Numbers are converted, bytes are
// never taken as what they are not. Left out: bool, strings and quantised types, which no number stands for.
#pragma once

#include <string>

#include "graph/tensor.h"

namespace runnel {

// True between any two of integers and floating types, between the two complex types, and for equal types.
bool can_cast(DType from, DType to);

// The same numbers as `to`. Between floating types they are rounded to the nearest (ties to even), and a
// finite one that would become infinite is refused; where an integer type is on either side each number must
// be the same after. Throws InvalidArgument with `name` and the first element that cannot be. Requires:
// can_cast.
Tensor cast_value(const Tensor& value, DType to, const std::string& name);

}  // namespace runnel
