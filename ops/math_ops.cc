// Specs, gradients and builders of one-tensor mathematics, Cast, AddN and MatMul.
#include "ops/math_ops.h"

#include <string_view>

#include "graph/dataflow.h"
#include "graph/error.h"
#include "ops/broadcast_gradient.h"
#include "ops/number_types.h"

namespace runnel {
namespace {

constexpr const char* kSignedT =
    "T: {bfloat16, half, float, double, int8, int16, int32, int64, complex64, complex128}";
constexpr const char* kFloatingT = "T: {bfloat16, half, float, double, complex64, complex128}";
constexpr const char* kAbsT = "T: {bfloat16, half, float, double, int8, int16, int32, int64}";
constexpr const char* kSquareT =
    "T: {bfloat16, half, float, double, int8, int16, int32, int64, uint8, uint16, uint32, uint64, complex64, "
    "complex128}";

OpSpec unary(const char* name, const char* types, Gradient gradient) {
  return {.name = name,
          .inputs = {"x: T"},
          .outputs = {"y: T"},
          .attrs = {types},
          .shape = same_shape,
          .gradient = std::move(gradient)};
}

// The op that TensorFlow has for the derivative of one whose own output is enough for it.
OpSpec gradient_op(const char* name, Gradient gradient) {
  return {.name = name,
          .inputs = {"y: T", "dy: T"},
          .outputs = {"z: T"},
          .attrs = {kFloatingT},
          .shape = same_shape,
          .gradient = std::move(gradient)};
}

Output by_output(const Node& n, const char* op, Output dy) { return n.graph().add(op, {n.output(0), dy}); }

const OpRegistration kNeg{
    unary("Neg", kSignedT, [](const Node&, Grad dy) -> Grads { return {negative(dy.dense())}; })};

// y = |x|:  dx = dy sign(x).
const OpRegistration kAbs{
    unary("Abs", kAbsT, [](const Node& n, Grad dy) -> Grads { return {dy.dense() * sign(n.input(0))}; })};

const OpRegistration kSign{
    unary("Sign", kSignedT, [](const Node& n, Grad) -> Grads { return {zeros_of(n.input(0))}; })};

// y = x^2:  dx = dy (2 x).
const OpRegistration kSquare{unary("Square", kSquareT, [](const Node& n, Grad dy) -> Grads {
  const Output d = dy;
  const ControlDependencies after(n.graph(), {Operation(d.node())});
  const Output two = Operand(2).in(n.graph(), base_of(d.dtype()), "Const");
  return {multiply(d, multiply(n.input(0), two))};
})};

// y = sqrt(x):  dx = dy / (2 y).
const OpRegistration kSqrt{unary(
    "Sqrt", kFloatingT, [](const Node& n, Grad dy) -> Grads { return {by_output(n, "SqrtGrad", dy)}; })};
// z = dy / (2 y):  to y  -(d / y) z,  to dy  (d / y) / 2.
const OpRegistration kSqrtGrad{gradient_op("SqrtGrad", [](const Node& n, Grad dz) -> Grads {
  const Output d = dz;
  const ControlDependencies after(n.graph(), {Operation(d.node())});
  const Output quotient = d / n.input(0);
  const Output to_y = -quotient * n.output(0);
  return {to_y, 0.5 * quotient};
})};

// y = x^(-1/2):  dx = -dy y^3 / 2.
const OpRegistration kRsqrt{unary(
    "Rsqrt", kFloatingT, [](const Node& n, Grad dy) -> Grads { return {by_output(n, "RsqrtGrad", dy)}; })};
// z = -dy y^3 / 2:  to y  -(3/2) d dy y^2,  to dy  -d y^3 / 2.
const OpRegistration kRsqrtGrad{gradient_op("RsqrtGrad", [](const Node& n, Grad dz) -> Grads {
  const Output y = n.input(0), d = dz;
  const ControlDependencies after(n.graph(), {Operation(d.node())});
  const Output slope = -1.5 * d * n.input(1);
  const Output to_y = slope * square(y);
  return {to_y, n.graph().add("RsqrtGrad", {y, d})};
})};

// y = 1 / x:  dx = -dy y^2.
Grads reciprocal_gradient(const Node& n, Grad dy) { return {by_output(n, "ReciprocalGrad", dy)}; }
const OpRegistration kReciprocal{unary("Reciprocal", kSignedT, reciprocal_gradient)};
const OpRegistration kInv{unary("Inv", kSignedT, reciprocal_gradient)};
// z = -dy y^2:  to y  -2 d dy y,  to dy  -d y^2.
Grads reciprocal_grad_gradient(const Node& n, Grad dz) {
  const Output y = n.input(0), d = dz;
  const ControlDependencies after(n.graph(), {Operation(d.node())});
  const Output to_y = d * -2.0 * n.input(1) * y;
  return {to_y, n.graph().add("ReciprocalGrad", {y, d})};
}
const OpRegistration kReciprocalGrad{gradient_op("ReciprocalGrad", reciprocal_grad_gradient)};
const OpRegistration kInvGrad{gradient_op("InvGrad", reciprocal_grad_gradient)};

// y = e^x:  dx = dy y.
const OpRegistration kExp{
    unary("Exp", kFloatingT, [](const Node& n, Grad dy) -> Grads { return {dy.dense() * n.output(0)}; })};

// y = log x:  dx = dy (1 / x).
const OpRegistration kLog{unary("Log", kFloatingT, [](const Node& n, Grad dy) -> Grads {
  const Output d = dy;
  const ControlDependencies after(n.graph(), {Operation(d.node())});
  return {d * reciprocal(n.input(0))};
})};

// y = tanh x:  dx = dy (1 - y^2).
const OpRegistration kTanh{unary(
    "Tanh", kFloatingT, [](const Node& n, Grad dy) -> Grads { return {by_output(n, "TanhGrad", dy)}; })};
// z = dy (1 - y^2):  to y  -2 d dy y,  to dy  d (1 - y^2).
const OpRegistration kTanhGrad{gradient_op("TanhGrad", [](const Node& n, Grad dz) -> Grads {
  const Output y = n.input(0), d = dz;
  const ControlDependencies after(n.graph(), {Operation(d.node())});
  const Output to_y = d * -2.0 * n.input(1) * y;
  return {to_y, n.graph().add("TanhGrad", {y, d})};
})};

// y = 1 / (1 + e^-x):  dx = dy y (1 - y).
const OpRegistration kSigmoid{unary("Sigmoid", kFloatingT, [](const Node& n, Grad dy) -> Grads {
  return {by_output(n, "SigmoidGrad", dy)};
})};
// z = dy y (1 - y):  to y  d dy - 2 d dy y,  to dy  d y (1 - y).
const OpRegistration kSigmoidGrad{gradient_op("SigmoidGrad", [](const Node& n, Grad dz) -> Grads {
  const Output y = n.input(0), d = dz;
  const ControlDependencies after(n.graph(), {Operation(d.node())});
  const Output product = d * n.input(1);
  const Output twice = 2.0 * product * y;
  const Output to_y = product - twice;
  return {to_y, n.graph().add("SigmoidGrad", {y, d})};
})};

const OpRegistration kCast{{
    .name = "Cast",
    .inputs = {"x: SrcT"},
    .outputs = {"y: DstT"},
    .attrs = {"SrcT: type", "DstT: type", "Truncate: bool = false"},
    .shape = same_shape,
    // A conversion scales nothing: the gradient is converted back. Nothing flows through integers.
    .gradient = [](const Node& n, Grad dy) -> Grads {
      const DType from = base_of(n.input(0).dtype());
      if (!is_trainable(from) || !is_trainable(n.output_type(0))) return {Grad{}};
      return {cast(dy.dense(), from)};
    },
}};

const OpRegistration kAddN{{
    .name = "AddN",
    .inputs = {"inputs: N * T"},
    .outputs = {"sum: T"},
    .attrs =
        {"N: int >= 1",
         "T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, bfloat16, "
         "qint16, quint16, uint16, complex128, half, uint32, uint64, variant}"},
    .shape = [](const ShapeContext& c) -> Shapes {
      Shape all = c.input("inputs", 0);
      for (int k = 1; k < c.count("inputs"); ++k) {
        const Shape next = c.input("inputs", k);
        if (!all.compatible_with(next)) c.refuse("the inputs differ in shape");
        all = all.merged_with(next);
      }
      return all;
    },
    .gradient = [](const Node& n, Grad d) -> Grads { return Grads(static_cast<std::size_t>(n.inputs()), d); },
    .traits = {.commutative = true, .aggregate = true},
}};

const OpRegistration kMatMul{{
    .name = "MatMul",
    .inputs = {"a: T", "b: T"},
    .outputs = {"product: T"},
    .attrs = {"transpose_a: bool = false", "transpose_b: bool = false",
              "T: {bfloat16, half, float, double, int32, int64, uint8, uint16, uint32, uint64, complex64, "
              "complex128}"},
    .shape = [](const ShapeContext& c) -> Shapes {
      const bool ta = c.flag("transpose_a"), tb = c.flag("transpose_b");
      const Shape a = c.input("a", Rank{2}), b = c.input("b", Rank{2});
      c.require_equal(a[ta ? 0 : 1], b[tb ? 1 : 0], "inner dimensions");
      return Shape{a[ta ? 1 : 0], b[tb ? 0 : 1]};
    },
    // For C = A B:  dA = dC B^T,  dB = A^T dC.  A set flag transposes the line it
    // belongs to, which swaps its factors: two choices, not four cases.
    .gradient = [](const Node& n, Grad dc) -> Grads {
      const Output a = n.input(0), b = n.input(1), d = dc;
      const bool ta = n.flag("transpose_a"), tb = n.flag("transpose_b");
      const Output da =
          ta ? matmul(b, d, {.transpose_a = tb, .transpose_b = true}) : matmul(d, b, {.transpose_b = !tb});
      return {da, tb ? matmul(d, a, {.transpose_a = true, .transpose_b = ta})
                     : matmul(a, d, {.transpose_a = !ta})};
    },
}};

}  // namespace

Output operator-(Operand x) {
  return add_unary("Neg", "", x.graph() ? Operand(x.in(*x.graph(), DType::kInvalid, "")) : x, {}, x.where());
}
Output negative(Operand x, OpOptions o) { return add_unary("Neg", o.name, x, {}, o.where); }
Output abs(Operand x, OpOptions o) { return add_unary("Abs", o.name, x, {}, o.where); }
Output sign(Operand x, OpOptions o) { return add_unary("Sign", o.name, x, {}, o.where); }
Output square(Operand x, OpOptions o) { return add_unary("Square", o.name, x, {}, o.where); }
Output sqrt(Operand x, OpOptions o) { return add_unary("Sqrt", o.name, x, {}, o.where); }
Output rsqrt(Operand x, OpOptions o) { return add_unary("Rsqrt", o.name, x, {}, o.where); }
Output reciprocal(Operand x, OpOptions o) { return add_unary("Reciprocal", o.name, x, {}, o.where); }
Output exp(Operand x, OpOptions o) { return add_unary("Exp", o.name, x, {}, o.where); }
Output log(Operand x, OpOptions o) { return add_unary("Log", o.name, x, {}, o.where); }
Output tanh(Operand x, OpOptions o) { return add_unary("Tanh", o.name, x, {}, o.where); }
Output sigmoid(Operand x, OpOptions o) { return add_unary("Sigmoid", o.name, x, {}, o.where); }

Output cast(Operand x, DType type, OpOptions o) {
  if (x.dtype() == type && x.graph()) return x.in(*x.graph(), type, "x");
  return add_unary("Cast", o.name, x, {{"DstT", type}}, o.where);
}

Output add_n(const Outputs& inputs, OpOptions o) {
  if (inputs.empty()) throw InvalidArgument("add_n: no tensors to add", o.where);
  Graph& graph = inputs[0].graph();
  if (inputs.size() == 1 && o.name.empty()) return inputs[0];
  if (inputs.size() == 1) return graph.add("Identity", {inputs[0]}, {}, o.name, o.where);
  return graph.add("AddN", {Argument(inputs)}, {}, o.name, o.where);
}

Output matmul(Operand a, Operand b, MatMulOptions o) {
  return add_binary("MatMul", o.name, a, b, {{"transpose_a", o.transpose_a}, {"transpose_b", o.transpose_b}},
                    o.where);
}

}  // namespace runnel
