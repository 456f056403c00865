// Specs and builders of biases, rectified units and softmax.
#include "ops/nn_ops.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "graph/dataflow.h"
#include "graph/op_spec.h"
#include "ops/array_join_ops.h"
#include "ops/array_movement_ops.h"
#include "ops/array_shape_ops.h"
#include "ops/array_slice_ops.h"
#include "ops/integers.h"
#include "ops/number_types.h"

namespace runnel {
namespace {

constexpr const char* kDataFormat = "data_format: {'NHWC', 'NCHW'} = 'NHWC'";
constexpr const char* kFloatT = "T: {half, bfloat16, float, double}";

bool channels_first(const Node& n) { return n.bytes("data_format") == "NCHW"; }

// The dimension of channels; kUnknown where the rank is.
int channel_dim(const ShapeContext& c, std::string_view arg) {
  const Shape shape = c.input(arg);
  if (!shape.has_rank()) return -1;
  if (shape.rank() < 2) c.refuse(std::string(arg) + " must have two dimensions or more");
  return channels_first(c.node()) ? 1 : shape.rank() - 1;
}

Shapes bias_add_shape(const ShapeContext& c) {
  Shape value = c.input("value");
  const Shape bias = c.input("bias", Rank{1});
  const int dim = channel_dim(c, "value");
  if (dim >= 0) value.set(dim, c.require_equal(value[dim], bias[0], "channels"));
  return value;
}

Shapes same_of_two(const ShapeContext& c) {
  if (!c.input(0).compatible_with(c.input(1))) c.refuse("shapes differ");
  return c.input(0).merged_with(c.input(1));
}

Shapes row_shape(const ShapeContext& c) {
  if (c.input(0).rank() == 0) c.refuse("logits must have a dimension");
  return c.input(0);
}

// The sum along the last dimension, which stays with length 1.
Output row_sum(Output x, Location where) {
  NameScope scope(x.graph(), "Sum");
  const Output last = constant(x.graph(), Tensor::scalar<std::int32_t>(-1), {.name = "reduction_indices"});
  return x.graph().add("Sum", {x, last}, {{"keep_dims", true}}, scope.name(), where);
}

// The dimensions, with a 1 for the channels.
Output with_one_channel(Output before, Output after) {
  Graph& graph = before.graph();
  const NameScope scope(graph, "concat");
  Outputs parts{before, Integers({1}).in(graph, "values_1", {})};
  if (after) parts.push_back(after);
  const Output axis = integer_constant(graph, DType::kInt32, 0, "axis");
  return graph.add("ConcatV2", {parts, axis}, {}, scope.name());
}

// Each sum's gradient goes to every element of its channel.
Grads bias_add_grad_gradient(const Node& n, Grad d) {
  const Output of_value = shape(n.input(0)), of_bias = shape(d.dense());
  const bool first = channels_first(n);
  const int channel = first ? 1 : -1;
  const auto before = [&] { return subvector(of_value, std::nullopt, channel); };
  const auto after = [&] { return subvector(of_value, channel + 1, std::nullopt); };
  Outputs kept{ones_like(before()), of_bias};
  if (first) kept.push_back(ones_like(after()));
  const Output column = concat(kept, 0);
  const Output rows = before();
  const Output multiples = with_one_channel(rows, first ? after() : Output());
  return {tile(reshape(d.dense(), column), multiples)};
}

const OpRegistration kBiasAdd{{
    .name = "BiasAdd",
    .inputs = {"value: T", "bias: T"},
    .outputs = {"output: T"},
    .attrs = {kNumberT, kDataFormat},
    .shape = bias_add_shape,
    // Each bias is added once for each element of its channel, so its gradient is the sum over them.
    .gradient = [](const Node& n, Grad d) -> Grads {
      return {d, bias_add_grad(d, {.data_format = n.bytes("data_format"), .where = n.where()})};
    },
}};

const OpRegistration kBiasAddGrad{{
    .name = "BiasAddGrad",
    .inputs = {"out_backprop: T"},
    .outputs = {"output: T"},
    .attrs = {kNumberT, kDataFormat},
    .shape = [](const ShapeContext& c) -> Shapes {
      const int dim = channel_dim(c, "out_backprop");
      return Shape{dim < 0 ? kUnknown : c.input(0)[dim]};
    },
    .gradient = bias_add_grad_gradient,
}};

const OpRegistration kRelu{{
    .name = "Relu",
    .inputs = {"features: T"},
    .outputs = {"activations: T"},
    .attrs = {"T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64, "
              "qint8}"},
    .shape = same_shape,
    // The output is over 0 just where the input is, and need not be kept besides it.
    .gradient = [](const Node& n, Grad d) -> Grads {
      return {relu_grad(d, Output(n), {.where = n.where()})};
    },
}};

const OpRegistration kReluGrad{{
    .name = "ReluGrad",
    .inputs = {"gradients: T", "features: T"},
    .outputs = {"backprops: T"},
    .attrs = {kRealNumberT},
    .shape = same_of_two,
    // Linear in gradients; a step in features, whose derivative is 0 wherever it has one.
    .gradient = [](const Node& n, Grad d) -> Grads {
      const Output passed = relu_grad(d, n.input(1), {.where = n.where()});
      return {passed, n.graph().add("ZerosLike", {n.input(1)}, {}, "zeros_like", n.where())};
    },
}};

const OpRegistration kSoftmax{{
    .name = "Softmax",
    .inputs = {"logits: T"},
    .outputs = {"softmax: T"},
    .attrs = {kFloatT},
    .shape = row_shape,
    // y_i = e^x_i / s gives dy_i/dx_j = y_i ([i = j] - y_j), so dx = (dy - sum(dy y)) y.
    .gradient = [](const Node& n, Grad d) -> Grads {
      const Output y(n), sum = row_sum(add_binary("Mul", "mul", d.dense(), y, {}, n.where()), n.where());
      const Output shifted = add_binary("Sub", "sub", d.dense(), sum, {}, n.where());
      return {add_binary("Mul", "mul", shifted, y, {}, n.where())};
    },
}};

const OpRegistration kLogSoftmax{{
    .name = "LogSoftmax",
    .inputs = {"logits: T"},
    .outputs = {"logsoftmax: T"},
    .attrs = {kFloatT},
    .shape = row_shape,
    // y_i = x_i - log s gives dy_i/dx_j = [i = j] - e^y_j, so dx = dy - sum(dy) e^y.
    .gradient = [](const Node& n, Grad d) -> Grads {
      const Output softmax = n.graph().add("Exp", {Output(n)}, {}, "Exp", n.where());
      const Output sum = row_sum(d, n.where());
      const Output part = add_binary("Mul", "mul", sum, softmax, {}, n.where());
      return {add_binary("Sub", "sub", d.dense(), part, {}, n.where())};
    },
}};

}  // namespace

Output bias_add(Output value, const Operand& bias, BiasAddOptions o) {
  Graph& graph = value.graph();
  NameScope scope(graph, o.name.empty() ? "BiasAdd" : o.name);
  const Output added = bias.in(graph, base_of(value.dtype()), "bias");
  return graph.add("BiasAdd", {value, added}, {{"data_format", o.data_format}}, scope.name(), o.where);
}

Output bias_add_grad(Output out_backprop, BiasAddOptions o) {
  return out_backprop.graph().add("BiasAddGrad", {out_backprop}, {{"data_format", o.data_format}}, o.name,
                                  o.where);
}

Output relu(const Operand& features, OpOptions o) {
  const Output x = features.alone();
  return x.graph().add("Relu", {x}, {}, o.name, o.where);
}

Output relu_grad(Output gradients, Output features, OpOptions o) {
  return gradients.graph().add("ReluGrad", {gradients, features}, {}, o.name, o.where);
}

Output softmax(const Operand& logits, OpOptions o) {
  const Output x = logits.alone();
  return x.graph().add("Softmax", {x}, {}, o.name, o.where);
}

Output log_softmax(const Operand& logits, OpOptions o) {
  const Output x = logits.alone();
  return x.graph().add("LogSoftmax", {x}, {}, o.name, o.where);
}

}  // namespace runnel
