// Sums over stretched dimensions, decided as far as the shapes are known.
#include "ops/broadcast_gradient.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "graph/dataflow.h"
#include "ops/operand.h"

namespace runnel {
namespace {

struct StretchedAxes {
  std::vector<std::int32_t> x, y;
};

// Which axes of the result x and y were stretched along; none if that depends on dimensions not known yet.
std::optional<StretchedAxes> stretched_axes(const Shape& x, const Shape& y) {
  if (!x.has_rank() || !y.has_rank()) return std::nullopt;
  const int rank = std::max(x.rank(), y.rank());
  StretchedAxes axes;
  for (int i = 0; i < rank; ++i) {
    const int in_x = i - (rank - x.rank()), in_y = i - (rank - y.rank());
    const std::int64_t of_x = in_x < 0 ? 1 : x[in_x], of_y = in_y < 0 ? 1 : y[in_y];
    if (of_x == 1 && of_y != 1) {
      axes.x.push_back(i);
    } else if (of_y == 1 && of_x != 1) {
      axes.y.push_back(i);
    } else if (of_x == kUnknown || of_y == kUnknown) {
      return std::nullopt;
    }
  }
  return axes;
}

// `d` summed over `axes`, whose dimensions stay as ones.
Output summed(Output d, Output axes, std::string_view name) {
  return d.graph().add("Sum", {d, axes}, {{"keep_dims", true}}, name);
}
Output summed(Output d, const std::vector<std::int32_t>& axes) {
  const NameScope scope(d.graph(), "Sum");
  return summed(d, constant(d.graph(), Tensor::vector(axes), {.name = "reduction_indices"}), scope.name());
}
Output reshaped(Output x, Output shape) { return x.graph().add("Reshape", {x, shape}); }

}  // namespace

Output shape_vector(Output x, std::string_view name) {
  if (!x.shape().is_known()) return x.graph().add("Shape", {x}, {}, name);
  std::vector<std::int32_t> dims;
  for (const std::int64_t dim : x.shape().dims()) dims.push_back(static_cast<std::int32_t>(dim));
  return constant(x.graph(), Tensor::vector(dims), {.name = std::string(name)});
}

Output zeros_of(Output x) {
  if (!x.shape().is_known() || x.shape().elements() >= 1000)
    return x.graph().add("ZerosLike", {x}, {}, "zeros_like");
  return constant(x.graph(), Tensor::zeros(base_of(x.dtype()), x.shape()), {.name = "zeros_like"});
}

bool all_same_shape(Output x, Output y, Output d) {
  return x.shape().is_known() && x.shape() == y.shape() && x.shape() == d.shape();
}

Grads unbroadcast(Output x, Output y, Output dx, Output dy) {
  const Output of_x = shape_vector(x), of_y = shape_vector(y);
  if (const auto axes = stretched_axes(x.shape(), y.shape())) {
    if (!axes->x.empty() || x.shape().rank() < y.shape().rank()) dx = reshaped(summed(dx, axes->x), of_x);
    if (!axes->y.empty() || y.shape().rank() < x.shape().rank()) dy = reshaped(summed(dy, axes->y), of_y);
    return {dx, dy};
  }
  const Node& args = x.graph().add("BroadcastGradientArgs", {of_x, of_y});
  dx = reshaped(summed(dx, args.output(0), "Sum"), of_x);
  return {dx, reshaped(summed(dy, args.output(1), "Sum"), of_y)};
}

Output unbroadcast(Output x, Output z, Output dx) {
  const Output of_x = shape_vector(x), of_z = shape_vector(z);
  if (const auto axes = stretched_axes(x.shape(), z.shape())) {
    if (axes->x.empty() && x.shape().rank() == z.shape().rank()) return dx;
    return reshaped(summed(dx, axes->x), of_x);
  }
  const Node& args = x.graph().add("BroadcastGradientArgs", {of_x, of_z});
  return reshaped(summed(dx, args.output(0), "Sum"), of_x);
}

}  // namespace runnel
