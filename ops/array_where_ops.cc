// Places of elements, and masks.
#include "ops/array_where_ops.h"

#include <vector>

#include "graph/dataflow.h"
#include "graph/error.h"
#include "graph/op_spec.h"
#include "ops/array_ops.h"

namespace runnel {
namespace {

const OpRegistration kWhere{{
    .name = "Where",
    .inputs = {"input: T"},
    .outputs = {"index: int64"},
    .attrs = {"T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
              "bfloat16, qint16, "
              "quint16, uint16, complex128, half, uint32, uint64, bool} = DT_BOOL"},
    .shape = [](const ShapeContext& c) -> Shapes {
      const Shape input = c.input("input");
      if (input.rank() == 0) c.refuse("a scalar has no places");
      return Shape{kUnknown, input.has_rank() ? input.rank() : kUnknown};
    },
    .gradient = Gradient::none("returns places"),
}};

}  // namespace

Output where(Operand condition, OpOptions o) { return add_unary("Where", o.name, condition, {}, o.where); }

Output boolean_mask(Output tensor, Output mask, OpOptions o) {
  const Shape &rows = tensor.shape(), &chosen = mask.shape();
  if ((chosen.has_rank() && chosen.rank() != 1) || rows.rank() == 0 ||
      (chosen.has_rank() && rows.has_rank() && chosen[0] >= 0 && rows[0] >= 0 && chosen[0] != rows[0]))
    throw InvalidArgument(cat("boolean_mask: the mask must be a vector as long as the tensor: tensor is ",
                              base_of(tensor.dtype()), rows, " (", tensor.name(), "), mask is ", chosen, " (",
                              mask.name(), ")"),
                          o.where);
  Graph& graph = tensor.graph();
  const NameScope scope(graph, o.name.empty() ? "boolean_mask" : o.name);
  const Output places = where(mask, {.where = o.where});  // [n, 1]
  const Output list =
      graph.add("Squeeze", {places}, {{"squeeze_dims", std::vector<std::int64_t>{1}}}, "", o.where);
  const NameScope gather(graph, "GatherV2");
  const Output axis = constant(graph, Tensor::scalar<std::int32_t>(0), {.name = "axis", .where = o.where});
  return graph.add("GatherV2", {tensor, list, axis}, {}, gather.name(), o.where);
}

}  // namespace runnel
