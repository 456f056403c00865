// What shape functions ask about axes: one number among the inputs, a dimension that an axis names, a shape
// with a dimension more or less.
#pragma once

#include <optional>
#include <string_view>

#include "graph/op_spec.h"

namespace runnel {

// The dimension that `axis` names, of `rank` there are; negative ones are counted from the end. Refuses
// others, naming the argument.
int axis_in(const ShapeContext& c, std::int64_t axis, int rank, std::string_view arg);

// The value of an input that is a single integer; none if it is not known. Refuses more or fewer elements.
std::optional<std::int64_t> single_integer(const ShapeContext& c, std::string_view arg);

Shape with_dimension(const Shape& shape, int at, std::int64_t dim);
Shape without_dimension(const Shape& shape, int at);

// All outputs of a node.
Outputs outputs_of(const Node& node);

}  // namespace runnel
