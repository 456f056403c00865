// Specs, gradients and builders of running sums and products.
#include "ops/scan_ops.h"

#include <string_view>
#include <utility>

#include "graph/op_spec.h"
#include "ops/arithmetic_ops.h"
#include "ops/axes.h"
#include "ops/integers.h"
#include "ops/number_types.h"

namespace runnel {
namespace {

Shapes scan_shape(const ShapeContext& c) {
  const Shape x = c.input("x");
  const std::optional<std::int64_t> axis = single_integer(c, "axis");
  if (axis && x.has_rank()) (void)axis_in(c, *axis, x.rank(), "axis");
  return x;
}

OpSpec scan(const char* name, Gradient gradient) {
  return {.name = name,
          .inputs = {"x: T", "axis: Tidx"},
          .outputs = {"out: T"},
          .attrs = {"exclusive: bool = false", "reverse: bool = false", kNumberT,
                    "Tidx: {int32, int64} = DT_INT32"},
          .shape = scan_shape,
          .gradient = std::move(gradient),
          .traits = {.bind_values = {"axis"}}};
}

// Every element went into the sums from its own on: the sums of d from the other end.
const OpRegistration kCumsum{scan("Cumsum", [](const Node& n, Grad d) -> Grads {
  return {cumsum(d.dense(), n.input(1), {.exclusive = n.flag("exclusive"), .reverse = !n.flag("reverse")}),
          Grad{}};
})};

// y_i = x_0 ... x_i  gives  dx_k = sum over i >= k of d_i y_i / x_k. Where x_k is 0 the quotient is taken as
// 0, as TensorFlow does.
const OpRegistration kCumprod{scan("Cumprod", [](const Node& n, Grad d) -> Grads {
  const Output x = n.input(0), axis = n.input(1);
  const bool exclusive = n.flag("exclusive"), reverse = n.flag("reverse");
  const Output products = cumprod(x, axis, {.exclusive = exclusive, .reverse = reverse});
  const Output sums = cumsum(products * d.dense(), axis, {.exclusive = exclusive, .reverse = !reverse});
  return {div_no_nan(sums, x), Grad{}};
})};

Attrs direction(const ScanOptions& o) { return {{"exclusive", o.exclusive}, {"reverse", o.reverse}}; }

Output add_scan(std::string_view op, const Operand& x, int axis, const ScanOptions& o) {
  const Output in = x.alone();
  Graph& graph = in.graph();
  const NameScope scope(graph, o.name.empty() ? op : std::string_view(o.name));
  const Output at = integer_constant(graph, DType::kInt32, axis, "axis", o.where);
  return graph.add(op, {in, at}, direction(o), scope.name(), o.where);
}

Output add_scan(std::string_view op, const Operand& x, Output axis, const ScanOptions& o) {
  const Output in = x.alone();
  return in.graph().add(op, {in, axis}, direction(o), o.name, o.where);
}

}  // namespace

Output cumsum(Operand x, int axis, ScanOptions o) { return add_scan("Cumsum", x, axis, o); }
Output cumsum(Operand x, Output axis, ScanOptions o) { return add_scan("Cumsum", x, axis, o); }
Output cumprod(Operand x, int axis, ScanOptions o) { return add_scan("Cumprod", x, axis, o); }
Output cumprod(Operand x, Output axis, ScanOptions o) { return add_scan("Cumprod", x, axis, o); }

}  // namespace runnel
