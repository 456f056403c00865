// Between the elements of a queue and batches of them: a batch has one dimension more, in front.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/tensor.h"

namespace runnel {

// Row `i` of a batch, in memory of its own.
Tensor row_of(const Tensor& batch, std::int64_t i);

// The rows as one tensor, each of `type`. Where they differ in size, all take the largest and the rest is
// zeros (or empty strings). `form`, which may be known in part, says the shape where there are no rows; its
// unknown dimensions are 0 then. Throws InvalidArgument if the rows differ in rank, ResourceExhausted.
Tensor batch_of(DType type, const Shape& form, const std::vector<Tensor>& rows);

}  // namespace runnel
