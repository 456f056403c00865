// The rows of a batch, one by one.
#pragma once

#include <cstdint>

#include "graph/tensor.h"

namespace runnel {

// Element `row` of the first dimension, as a tensor of its own: T[dims] of T[n, dims]. Throws InvalidArgument
// for a scalar and for a row that there is not.
Tensor row_at(const Tensor& batch, std::int64_t row);

}  // namespace runnel
