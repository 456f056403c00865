// See step_number.h.
#include "train/checkpoint/step_number.h"

#include <charconv>

#include "graph/error.h"

namespace runnel {

std::int64_t step_number(const Tensor& value, std::string_view name) {
  if (value.elements() == 1) {
    if (value.dtype() == DType::kInt64) return value.scalar<std::int64_t>();
    if (value.dtype() == DType::kInt32) return value.scalar<std::int32_t>();
  }
  throw InvalidArgument(
      cat("global_step '", name, "' is ", value.dtype(), value.shape(), ": it must be an integer scalar"));
}

std::optional<std::int64_t> step_behind(std::string_view prefix) {
  const std::size_t dash = prefix.rfind('-');
  if (dash == prefix.npos) return {};
  std::int64_t step = 0;
  const char* const end = prefix.data() + prefix.size();
  const auto [stop, error] = std::from_chars(prefix.data() + dash + 1, end, step);
  if (error != std::errc() || stop != end) return {};
  return step;
}

}  // namespace runnel
