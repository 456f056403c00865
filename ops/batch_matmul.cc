// Spec, gradient and builder of BatchMatMulV2.
#include "ops/batch_matmul.h"

#include <optional>
#include <vector>

#include "graph/dataflow.h"
#include "graph/error.h"
#include "graph/op_spec.h"
#include "ops/array_movement_ops.h"
#include "ops/array_shape_ops.h"
#include "ops/array_slice_ops.h"
#include "ops/math_ops.h"

namespace runnel {
namespace {

// All dimensions but the last two. Requires: a known rank of 2 or more.
Shape batch_of(const Shape& shape) {
  return Shape(shape.dims().first(static_cast<std::size_t>(shape.rank() - 2)));
}

Shapes product_shape(const ShapeContext& c) {
  const Shape x = c.input("x"), y = c.input("y");
  for (const Shape& shape : {x, y})
    if (shape.has_rank() && shape.rank() < 2) c.refuse("a factor has fewer than two dimensions");
  if (!x.has_rank() || !y.has_rank()) return Shape::unknown();
  const int left = c.flag("adj_x") ? 1 : 0, right = c.flag("adj_y") ? 1 : 0;
  c.require_equal(x[x.rank() - 1 - left], y[y.rank() - 2 + right], "inner dimensions");
  Shape out;
  try {
    out = broadcast(batch_of(x), batch_of(y));
  } catch (const Error&) {
    c.refuse("the dimensions before the last two do not broadcast");
  }
  out.push_back(x[x.rank() - 2 + left]);
  out.push_back(y[y.rank() - 1 - right]);
  return out;
}

// As tf.matmul chooses.
Output product(Output a, bool transpose_a, Output b, bool transpose_b) {
  if (a.shape().rank() == 2 && b.shape().rank() == 2)
    return matmul(a, b, {.transpose_a = transpose_a, .transpose_b = transpose_b});
  return batch_matmul(a, b, {.adj_x = transpose_a, .adj_y = transpose_b});
}

// True if no batch dimension is or may be stretched.
bool same_batches(const Shape& x, const Shape& y) {
  if (!x.has_rank() || !y.has_rank()) return false;
  const Shape of_x = batch_of(x), of_y = batch_of(y);
  return of_x.is_known() && of_x == of_y;
}

Output summed(Output d, Output axes, Output shape) {
  return reshape(d.graph().add("Sum", {d, axes}, {{"keep_dims", false}}), shape);
}

// As of MatMul, and summed over the batch dimensions that were stretched.
Grads product_gradient(const Node& n, Grad dz) {
  const Output x = n.input(0), y = n.input(1), d = dz;
  const bool tx = n.flag("adj_x"), ty = n.flag("adj_y");
  const Output dx = tx ? product(y, ty, d, true) : product(d, false, y, !ty);
  const Output dy = ty ? product(d, true, x, tx) : product(x, !tx, d, false);
  if (same_batches(x.shape(), y.shape())) return {dx, dy};
  const Output of_x = shape(x), of_y = shape(y);
  const Output batch_of_x = subvector(of_x, std::nullopt, -2), batch_of_y = subvector(of_y, std::nullopt, -2);
  const Node& axes = n.graph().add("BroadcastGradientArgs", {batch_of_x, batch_of_y});
  const Output whole_dx = summed(dx, axes.output(0), of_x);
  return {whole_dx, summed(dy, axes.output(1), of_y)};
}

const OpRegistration kBatchMatMulV2{{
    .name = "BatchMatMulV2",
    .inputs = {"x: T", "y: T"},
    .outputs = {"output: T"},
    .attrs =
        {"T: {bfloat16, half, float, double, int16, int32, int64, uint8, uint16, uint32, uint64, complex64, "
         "complex128}",
         "adj_x: bool = false", "adj_y: bool = false"},
    .shape = product_shape,
    .gradient = product_gradient,
}};

}  // namespace

Output batch_matmul(Operand x, Operand y, BatchMatMulOptions o) {
  return add_binary("BatchMatMulV2", o.name, x, y, {{"adj_x", o.adj_x}, {"adj_y", o.adj_y}}, o.where);
}

}  // namespace runnel
