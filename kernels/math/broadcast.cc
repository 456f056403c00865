// Joining of dimensions for two tensors that broadcast.
#include "kernels/math/broadcast.h"

#include <algorithm>
#include <vector>

#include "graph/error.h"

namespace runnel {
namespace {

struct Dim {
  std::int64_t size;
  bool x, y;  // whether this side has the dimension in full
};

// Dimensions from the innermost outwards, those of one left out, neighbours of one kind joined.
std::vector<Dim> joined_dims(const Shape& x, const Shape& y) {
  std::vector<Dim> dims;
  for (int i = 1; i <= std::max(x.rank(), y.rank()); ++i) {
    const std::int64_t of_x = i <= x.rank() ? x[x.rank() - i] : 1, of_y = i <= y.rank() ? y[y.rank() - i] : 1;
    if (of_x == 1 && of_y == 1) continue;
    const Dim dim{of_x == 1 ? of_y : of_x, of_x != 1, of_y != 1};
    if (!dims.empty() && dims.back().x == dim.x && dims.back().y == dim.y)
      dims.back().size *= dim.size;
    else
      dims.push_back(dim);
  }
  return dims;
}

}  // namespace

Stretch::Stretch(const Shape& x, const Shape& y) {
  const std::vector<Dim> dims = joined_dims(x, y);
  if (dims.empty()) return;
  if (dims.size() > kMaxDims) throw Unimplemented("broadcasting over more than 16 alternating dimensions");
  row_ = dims[0].size;
  kind_ = !dims[0].x ? Kind::kLeftStays : !dims[0].y ? Kind::kRightStays : Kind::kBoth;
  outer_ = static_cast<int>(dims.size()) - 1;
  std::int64_t x_stride = dims[0].x ? row_ : 1, y_stride = dims[0].y ? row_ : 1;
  for (int d = outer_ - 1; d >= 0; --d) {
    const Dim& dim = dims[static_cast<std::size_t>(outer_ - d)];
    const auto i = static_cast<std::size_t>(d);
    size_[i] = dim.size;
    x_stride_[i] = dim.x ? x_stride : 0;
    y_stride_[i] = dim.y ? y_stride : 0;
    if (dim.x) x_stride *= dim.size;
    if (dim.y) y_stride *= dim.size;
    rows_ *= dim.size;
  }
}

void Stretch::start(std::int64_t row, std::array<std::int64_t, kMaxDims>& at, std::int64_t& x,
                    std::int64_t& y) const {
  for (int d = outer_ - 1; d >= 0 && row > 0; --d) {
    const auto i = static_cast<std::size_t>(d);
    at[i] = row % size_[i];
    row /= size_[i];
    x += at[i] * x_stride_[i];
    y += at[i] * y_stride_[i];
  }
}

}  // namespace runnel
