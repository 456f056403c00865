// The number of a training step: out of the tensor that counts it, and out of the name of a checkpoint.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "graph/tensor.h"

namespace runnel {

// The number that an int32 or int64 tensor of one element holds. Throws InvalidArgument for another tensor,
// naming it.
std::int64_t step_number(const Tensor& value, std::string_view name);

// 7 of "d/model.ckpt-7"; none if there is no number behind the last dash.
std::optional<std::int64_t> step_behind(std::string_view prefix);

}  // namespace runnel
