// See tensor_rows.h.
#include "train/estimator/tensor_rows.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "graph/error.h"

namespace runnel {

Tensor row_at(const Tensor& batch, std::int64_t row) {
  const Shape& shape = batch.shape();
  if (shape.rank() < 1 || row < 0 || row >= shape[0])
    throw InvalidArgument(cat("there is no row ", row, " in ", name_of(batch.dtype()), shape));
  std::vector<std::int64_t> dims;
  for (int d = 1; d < shape.rank(); ++d) dims.push_back(shape[d]);
  Tensor out(batch.dtype(), Shape(dims));
  const auto each = static_cast<std::size_t>(out.elements());
  const std::size_t first = static_cast<std::size_t>(row) * each;
  if (batch.dtype() == DType::kString) {
    const auto from = batch.values<std::string>().subspan(first, each);
    std::copy(from.begin(), from.end(), out.mutable_values<std::string>().begin());
  } else if (out.bytes() > 0) {
    std::memcpy(out.mutable_data(),
                static_cast<const char*>(batch.data()) + static_cast<std::size_t>(row) * out.bytes(),
                out.bytes());
  }
  return out;
}

}  // namespace runnel
