// Specs and builders of ArgMax and ArgMin.
#include "ops/arg_ops.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "graph/dataflow.h"
#include "graph/error.h"
#include "graph/op_spec.h"

namespace runnel {
namespace {

constexpr const char* kOrderedT =
    "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64, qint8, "
    "quint8, "
    "qint32, qint16, quint16, bool}";

Shapes without_dimension(const ShapeContext& c) {
  (void)c.input("dimension", Rank{0});
  const Shape shape = c.input("input");
  if (!shape.has_rank()) return Shape::unknown();
  const auto value = c.constant("dimension");
  if (!value || value->dtype() == DType::kInt16) return Shape::unknown_of_rank(std::max(shape.rank() - 1, 0));
  const std::int64_t given = integers(*value)[0], axis = given < 0 ? given + shape.rank() : given;
  if (axis < 0 || axis >= shape.rank()) c.refuse(cat("there is no dimension ", given));
  Shape out;
  for (int i = 0; i < shape.rank(); ++i)
    if (i != axis) out.push_back(shape[i]);
  return out;
}

const OpRegistration kArgMax{{
    .name = "ArgMax",
    .inputs = {"input: T", "dimension: Tidx"},
    .outputs = {"output: output_type"},
    .attrs = {kOrderedT, "Tidx: {int16, int32, int64} = DT_INT32",
              "output_type: {int16, uint16, int32, int64} = DT_INT64"},
    .shape = without_dimension,
    .gradient = Gradient::none("returns integers"),
    .traits = {.bind_values = {"dimension"}},
}};

const OpRegistration kArgMin{{
    .name = "ArgMin",
    .inputs = {"input: T", "dimension: Tidx"},
    .outputs = {"output: output_type"},
    .attrs = {kOrderedT, "Tidx: {int32, int64} = DT_INT32", "output_type: {int32, int64} = DT_INT64"},
    .shape = without_dimension,
    .gradient = Gradient::none("returns integers"),
    .traits = {.bind_values = {"dimension"}},
}};

Output add_arg(std::string_view op, Output input, int axis, const ArgOptions& o) {
  Graph& graph = input.graph();
  NameScope scope(graph, o.name.empty() ? op : o.name);
  const Output dimension = constant(graph, Tensor::scalar<std::int32_t>(axis), {.name = "dimension"});
  return graph.add(op, {input, dimension}, {{"output_type", o.output_type}}, scope.name(), o.where);
}

}  // namespace

Output argmax(Output input, int axis, ArgOptions o) { return add_arg("ArgMax", input, axis, o); }
Output argmin(Output input, int axis, ArgOptions o) { return add_arg("ArgMin", input, axis, o); }

}  // namespace runnel
