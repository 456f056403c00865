// Specs, gradients and builders of arithmetic on two tensors.
#include "ops/arithmetic_ops.h"

#include <string_view>

#include "graph/dataflow.h"
#include "ops/broadcast_gradient.h"
#include "ops/comparison_ops.h"
#include "ops/math_ops.h"

namespace runnel {
namespace {

constexpr const char* kSubT =
    "T: {bfloat16, half, float, double, uint8, int8, uint16, int16, int32, int64, complex64, complex128, "
    "uint32, "
    "uint64}";
constexpr const char* kMulT =
    "T: {bfloat16, half, float, double, uint8, int8, uint16, int16, int32, uint32, uint64, int64, complex64, "
    "complex128}";
constexpr const char* kMaximumT =
    "T: {bfloat16, half, float, double, int8, uint8, int16, uint16, int32, uint32, int64, uint64}";

OpSpec binary(const char* name, const char* types, Gradient gradient, Traits traits = {}) {
  return {.name = name,
          .inputs = {"x: T", "y: T"},
          .outputs = {"z: T"},
          .attrs = {types},
          .shape = broadcast_shape,
          .gradient = std::move(gradient),
          .traits = std::move(traits)};
}

// z = x + y:  dx = dy = dz.
Grads add_gradient(const Node& n, Grad dz) {
  const Output x = n.input(0), y = n.input(1);
  if (all_same_shape(x, y, dz)) return {dz, dz};
  return unbroadcast(x, y, dz, dz);
}

// z = x - y:  dx = dz, dy = -dz.
Grads sub_gradient(const Node& n, Grad dz) {
  const Output x = n.input(0), y = n.input(1);
  const Output minus = negative(dz.dense());
  if (all_same_shape(x, y, dz)) return {dz, minus};
  return unbroadcast(x, y, dz, minus);
}

// z = x y:  dx = dz y, dy = x dz.
Grads mul_gradient(const Node& n, Grad dz) {
  const Output x = n.input(0), y = n.input(1), d = dz;
  const Output dx = multiply(d, y);
  if (all_same_shape(x, y, d)) return {dx, multiply(d, x)};
  return unbroadcast(x, y, dx, multiply(x, d));
}

// z = x / y:  dx = dz / y, dy = dz ((-x / y) / y).
Grads real_div_gradient(const Node& n, Grad dz) {
  const Output x = n.input(0), y = n.input(1), d = dz;
  const Output dx = realdiv(d, y);
  return unbroadcast(x, y, dx, d * realdiv(realdiv(negative(x), y), y));
}
Grads div_gradient(const Node& n, Grad dz) {
  const Output x = n.input(0), y = n.input(1), d = dz;
  const Output dx = divide(d, y);
  return unbroadcast(x, y, dx, d * divide(divide(negative(x), y), y));
}

// The same, and no gradient flows where y is 0.
Grads div_no_nan_gradient(const Node& n, Grad dz) {
  const Output x = n.input(0), y = n.input(1), d = dz;
  const Output dx = div_no_nan(d, y);
  return unbroadcast(x, y, dx, d * div_no_nan(div_no_nan(negative(x), y), y));
}

// z = x - floor(x / y) y:  dx = dz, dy = -dz floor(x / y).
Grads floor_mod_gradient(const Node& n, Grad dz) {
  const Output x = n.input(0), y = n.input(1), d = dz;
  return unbroadcast(x, y, d, d * negative(floordiv(x, y, {.name = "FloorDiv"})));
}

// z = (x - y)^2:  dx = 2 dz (x - y), dy = -dx.
Grads squared_difference_gradient(const Node& n, Grad dz) {
  const Output x = n.input(0), y = n.input(1), d = dz;
  Graph& graph = n.graph();
  Output dx;
  {
    const ControlDependencies after(graph, {Operation(d.node())});
    const Output twice = multiply(Operand(2).in(graph, base_of(d.dtype()), "scalar"), d);
    dx = twice * (x - y);
  }
  if (all_same_shape(x, y, d)) return {dx, negative(dx)};
  return unbroadcast(x, y, dx, negative(dx));
}

// The chosen input gets all of dz, the other one nothing.
Grads choice_gradient(const Node& n, Grad dz, Output (*prefers)(Operand, Operand, OpOptions)) {
  const Output x = n.input(0), y = n.input(1), d = dz;
  const Output zeros = zeros_of(d);
  const Output from_x = prefers(x, y, {});
  const Output dx = select_v2(from_x, d, zeros), dy = select_v2(from_x, zeros, d);
  return unbroadcast(x, y, dx, dy);
}
Grads maximum_gradient(const Node& n, Grad dz) { return choice_gradient(n, dz, greater_equal); }
Grads minimum_gradient(const Node& n, Grad dz) { return choice_gradient(n, dz, less_equal); }

const OpRegistration kAdd{binary(
    "Add",
    "T: {bfloat16, half, float, double, uint8, int8, int16, int32, int64, complex64, complex128, string}",
    add_gradient)};
const OpRegistration kAddV2{
    binary("AddV2",
           "T: {bfloat16, half, float, double, uint8, uint16, uint32, uint64, int8, int16, "
           "int32, int64, complex64, complex128}",
           add_gradient, {.commutative = true, .aggregate = true})};
const OpRegistration kSub{binary("Sub", kSubT, sub_gradient)};
const OpRegistration kMul{binary("Mul", kMulT, mul_gradient, {.commutative = true})};
const OpRegistration kDiv{binary("Div", kMulT, div_gradient)};
const OpRegistration kRealDiv{binary("RealDiv", kMulT, real_div_gradient)};
const OpRegistration kDivNoNan{
    binary("DivNoNan", "T: {half, float, bfloat16, double, complex64, complex128}", div_no_nan_gradient)};
const OpRegistration kTruncateDiv{
    binary("TruncateDiv", kMulT, Gradient::none("it is constant but for jumps"))};
const OpRegistration kFloorDiv{binary("FloorDiv", kMulT, Gradient::none("it is constant but for jumps"))};
const OpRegistration kFloorMod{
    binary("FloorMod",
           "T: {int8, int16, int32, int64, uint8, uint16, uint32, uint64, bfloat16, half, float, double}",
           floor_mod_gradient)};
const OpRegistration kSquaredDifference{
    binary("SquaredDifference", "T: {bfloat16, half, float, double, int32, int64, complex64, complex128}",
           squared_difference_gradient, {.commutative = true})};
const OpRegistration kMaximum{binary("Maximum", kMaximumT, maximum_gradient)};
const OpRegistration kMinimum{binary("Minimum", kMaximumT, minimum_gradient)};

// A Python operator reads a resource variable on its left (on its right, if the left is a plain value) before
// it opens its scope.
Output by_operator(std::string_view op, std::string_view name, const Operand& x, const Operand& y) {
  if (x.graph()) return add_binary(op, name, x.in(*x.graph(), DType::kInvalid, ""), y, {}, x.where());
  if (y.graph()) return add_binary(op, name, x, y.in(*y.graph(), DType::kInvalid, ""), {}, x.where());
  return add_binary(op, name, x, y, {}, x.where());
}

std::string_view or_else(const OpOptions& options, std::string_view name) {
  return options.name.empty() ? name : std::string_view(options.name);
}

// The floating dtype in which integers of this dtype are divided; kInvalid for what is divided as it is.
DType quotient_type(DType type) {
  if (!is_integer(type)) return DType::kInvalid;
  return size_of(type) < 4 ? DType::kFloat : DType::kDouble;
}

Output true_quotient(const Operand& x, const Operand& y, std::string_view name, Location where) {
  const DType wide = quotient_type(x.dtype() == DType::kInvalid ? y.dtype() : x.dtype());
  if (wide == DType::kInvalid) return add_binary("RealDiv", name, x, y, {}, where);
  Graph* graph = x.graph() ? x.graph() : y.graph();
  if (!graph) return add_binary("RealDiv", name, x, y, {}, where);  // which refuses them
  const NameScope scope(*graph, name);
  const OperandPair both = resolve(x, y, "RealDiv");
  const Output left = cast(both.x, wide, {.where = where});
  return graph->add("RealDiv", {left, cast(both.y, wide, {.where = where})}, {}, scope.name(), where);
}

}  // namespace

Output operator+(Operand x, Operand y) { return by_operator("AddV2", "add", x, y); }
Output operator-(Operand x, Operand y) { return by_operator("Sub", "sub", x, y); }
Output operator*(Operand x, Operand y) { return by_operator("Mul", "mul", x, y); }
Output operator/(Operand x, Operand y) {
  if (x.graph()) return true_quotient(x.in(*x.graph(), DType::kInvalid, ""), y, "truediv", x.where());
  if (y.graph()) return true_quotient(x, y.in(*y.graph(), DType::kInvalid, ""), "truediv", x.where());
  return true_quotient(x, y, "truediv", x.where());
}

Output add(Operand x, Operand y, OpOptions o) {
  return add_binary("AddV2", or_else(o, "Add"), x, y, {}, o.where);
}
Output subtract(Operand x, Operand y, OpOptions o) { return add_binary("Sub", o.name, x, y, {}, o.where); }
Output multiply(Operand x, Operand y, OpOptions o) { return add_binary("Mul", o.name, x, y, {}, o.where); }
Output divide(Operand x, Operand y, OpOptions o) {
  return true_quotient(x, y, or_else(o, "truediv"), o.where);
}
Output realdiv(Operand x, Operand y, OpOptions o) { return add_binary("RealDiv", o.name, x, y, {}, o.where); }
Output div_no_nan(Operand x, Operand y, OpOptions o) {
  return add_binary("DivNoNan", or_else(o, "div_no_nan"), x, y, {}, o.where);
}
Output floordiv(Operand x, Operand y, OpOptions o) {
  return add_binary("FloorDiv", or_else(o, "floordiv"), x, y, {}, o.where);
}
Output floormod(Operand x, Operand y, OpOptions o) {
  return add_binary("FloorMod", o.name, x, y, {}, o.where);
}
Output squared_difference(Operand x, Operand y, OpOptions o) {
  return add_binary("SquaredDifference", o.name, x, y, {}, o.where);
}
Output maximum(Operand x, Operand y, OpOptions o) { return add_binary("Maximum", o.name, x, y, {}, o.where); }
Output minimum(Operand x, Operand y, OpOptions o) { return add_binary("Minimum", o.name, x, y, {}, o.where); }

}  // namespace runnel
