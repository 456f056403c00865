// Axes of shapes.
#include "ops/axes.h"

#include "graph/error.h"

namespace runnel {

int axis_in(const ShapeContext& c, std::int64_t axis, int rank, std::string_view arg) {
  const std::int64_t at = axis < 0 ? axis + rank : axis;
  if (at < 0 || at >= rank) c.refuse(cat(arg, " ", axis, " is not in [", -rank, ", ", rank, ")"));
  return static_cast<int>(at);
}

std::optional<std::int64_t> single_integer(const ShapeContext& c, std::string_view arg) {
  const std::optional<Tensor> value = c.constant(arg);
  if (!value) return std::nullopt;
  if (value->elements() != 1) c.refuse(cat(arg, " has ", value->elements(), " elements, not 1"));
  return integers(*value)[0];
}

Shape with_dimension(const Shape& shape, int at, std::int64_t dim) {
  std::vector<std::int64_t> dims(shape.dims().begin(), shape.dims().end());
  dims.insert(dims.begin() + at, dim);
  return Shape(dims);
}

Shape without_dimension(const Shape& shape, int at) {
  std::vector<std::int64_t> dims(shape.dims().begin(), shape.dims().end());
  dims.erase(dims.begin() + at);
  return Shape(dims);
}

Outputs outputs_of(const Node& node) {
  Outputs out;
  for (int i = 0; i < node.outputs(); ++i) out.push_back(node.output(i));
  return out;
}

}  // namespace runnel
