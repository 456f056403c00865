// Specs and builders of the cross entropies. Both ops give the gradient of logits as their second output,
// which costs little beside the first. Logits of other ranks than 2 are flattened with TensorFlow's nodes; of
// rank 2 they are taken as they are, where TensorFlow flattens them all the same for the dense op.
#include "ops/loss_ops.h"

#include <cstdint>
#include <string_view>
#include <vector>

#include "graph/dataflow.h"
#include "graph/error.h"
#include "graph/op_spec.h"
#include "ops/array_movement_ops.h"
#include "ops/batch_matmul.h"
#include "ops/nn_ops.h"

namespace runnel {
namespace {

constexpr const char* kFloatT = "T: {half, bfloat16, float, double}";

Output integer(Graph& graph, std::int32_t value, const char* name) {
  return constant(graph, Tensor::scalar(value), {.name = name});
}
Output integer_list(Graph& graph, std::initializer_list<std::int32_t> values, const char* name) {
  return constant(graph, Tensor::vector(values), {.name = name});
}

// x with the loss's gradient of each row as a factor.
Output times_rows(Output rows, Output x, Location where) {
  return add_binary("Mul", "mul", expand_dims(rows, -1, {.where = where}), x, {}, where);
}

// What of the second output's gradient d reaches logits: with p = softmax(logits), (d - sum(d p)) p. The sum
// of each row is taken as the product of two matrices, as in TensorFlow.
Output through_backprop(Output d, Output logits, Location where) {
  const Output p = softmax(logits, {.where = where});
  const Output rows = expand_dims(d, 1, {.where = where});  // [rows, 1, classes]
  const Output sum = batch_matmul(rows, expand_dims(p, 2, {.where = where}), {.where = where});
  const Output column = squeeze(sum, {.axes = {1}, .where = where});  // [rows, 1]
  return add_binary("Mul", "mul", add_binary("Sub", "sub", d, column, {}, where), p, {}, where);
}

bool is_zero(const Grad& grad) { return !grad || grad.dense().node().op() == "ZerosLike"; }

// d loss / d logits = softmax - labels = output 1.
Output logits_gradient(const Node& n, std::span<const Grad> d) {
  const Output first = times_rows(d[0].dense(), Output(n, 1), n.where());
  if (is_zero(d[1])) return first;
  return add_binary("AddV2", "add", first, through_backprop(d[1], n.input(0), n.where()), {}, n.where());
}

const OpRegistration kSoftmaxCrossEntropyWithLogits{{
    .name = "SoftmaxCrossEntropyWithLogits",
    .inputs = {"features: T", "labels: T"},
    .outputs = {"loss: T", "backprop: T"},
    .attrs = {kFloatT},
    .shape = [](const ShapeContext& c) -> Shapes {
      const Shape both = broadcast_shape(c).list()[0];
      if (both.has_rank() && both.rank() != 2) c.refuse("logits and labels must be matrices");
      return {Shape{both.has_rank() ? both[0] : kUnknown},
              both.has_rank() ? both : Shape::unknown_of_rank(2)};
    },
    // The loss is linear in labels: d loss / d labels = -log(softmax).
    .gradient = [](const Node& n, std::span<const Grad> d) -> Grads {
      const Output logits = logits_gradient(n, d);
      const Output log_p = log_softmax(n.input(0), {.where = n.where()});
      const Output minus = n.graph().add("Neg", {log_p}, {}, "Neg", n.where());
      return {logits, times_rows(d[0].dense(), minus, n.where())};
    },
}};

const OpRegistration kSparseSoftmaxCrossEntropyWithLogits{{
    .name = "SparseSoftmaxCrossEntropyWithLogits",
    .inputs = {"features: T", "labels: Tlabels"},
    .outputs = {"loss: T", "backprop: T"},
    .attrs = {kFloatT, "Tlabels: {int32, int64} = DT_INT64"},
    .shape = [](const ShapeContext& c) -> Shapes {
      Shape features = c.input("features", Rank{2});
      features.set(0, c.require_equal(features[0], c.input("labels", Rank{1})[0], "numbers of rows"));
      return {Shape{features[0]}, features};
    },
    .gradient = [](const Node& n, std::span<const Grad> d) -> Grads {
      return {logits_gradient(n, d), Grad()};
    },
}};

// Shape and rank as constants where they are known.
Output shape_of(Output x, Location where) {
  if (!x.shape().is_known()) return x.graph().add("Shape", {x}, {}, "Shape", where);
  std::vector<std::int32_t> dims;
  for (const std::int64_t dim : x.shape().dims()) dims.push_back(static_cast<std::int32_t>(dim));
  return constant(x.graph(), Tensor::vector(dims), {.name = "Shape", .where = where});
}
Output rank_of(Output x, Location where) {
  if (!x.shape().has_rank()) return x.graph().add("Rank", {x}, {}, "Rank", where);
  return integer(x.graph(), x.shape().rank(), "Rank");
}
Output list_of(const Outputs& scalars, const char* name, Location where) {
  return scalars[0].graph().add("Pack", {scalars}, {}, name, where);
}

// x as a matrix whose rows are x's last dimension.
Output flatten_outer(Output x, Location where) {
  Graph& graph = x.graph();
  const Output rank = rank_of(x, where), shape = shape_of(x, where);
  const Output last = add_binary("Sub", "Sub", rank, 1, {}, where);
  Output columns;  // [1]
  {
    NameScope scope(graph, "Slice");
    const Output begin = list_of({last}, "begin", where), size = integer_list(graph, {1}, "size");
    columns = graph.add("Slice", {shape, begin, size}, {}, scope.name(), where);
  }
  Output dims;  // [2]
  {
    NameScope scope(graph, "concat");
    const Output any = integer_list(graph, {-1}, "values_0"), axis = integer(graph, 0, "axis");
    dims = graph.add("ConcatV2", {Outputs{any, columns}, axis}, {}, scope.name(), where);
  }
  return graph.add("Reshape", {x, dims}, {}, "Reshape", where);
}

Output dense_loss(Output labels, Output logits, const NameScope& scope, Location where) {
  Graph& graph = logits.graph();
  const std::string_view op = "SoftmaxCrossEntropyWithLogits";
  if (logits.shape().rank() == 2 && labels.shape().rank() == 2)
    return graph.add(op, {logits, labels}, {}, scope.name(), where);
  const Output rank = rank_of(logits, where), shape = shape_of(logits, where);
  const Output rows = flatten_outer(logits, where), targets = flatten_outer(labels, where);
  const Output loss = graph.add(op, {rows, targets}, {}, scope.name(), where);
  const Output outer = add_binary("Sub", "Sub", rank, 1, {}, where);
  Output dims;  // the logits' but for the last
  {
    NameScope slice(graph, "Slice");
    const Output begin = integer_list(graph, {0}, "begin"), size = list_of({outer}, "size", where);
    dims = graph.add("Slice", {shape, begin, size}, {}, slice.name(), where);
  }
  return graph.add("Reshape", {loss, dims}, {}, "Reshape", where);
}

// The length of the last dimension of a tensor of this shape and rank.
Output last_dim(Output shape, Output rank, Location where) {
  Graph& graph = shape.graph();
  const Output at = add_binary("Sub", "sub", rank, 1, {}, where);
  const Output after = add_binary("AddV2", "add", at, 1, {}, where);
  NameScope scope(graph, "strided_slice");
  const Output begin = list_of({at}, "stack", where), end = list_of({after}, "stack_1", where);
  const Output stride = integer_list(graph, {1}, "stack_2");
  return graph.add("StridedSlice", {shape, begin, end, stride}, {{"shrink_axis_mask", 1}}, scope.name(),
                   where);
}

Output reshape_to(Output x, std::initializer_list<std::int32_t> dims, Location where) {
  NameScope scope(x.graph(), "Reshape");
  const Output shape = integer_list(x.graph(), dims, "shape");
  return x.graph().add("Reshape", {x, shape}, {}, scope.name(), where);
}

void check_ranks(Output logits, Output labels, Location where) {
  const Shape &of_logits = logits.shape(), &of_labels = labels.shape();
  if (of_logits.has_rank() && of_labels.has_rank() && of_labels.rank() != of_logits.rank() - 1)
    throw InvalidArgument(
        cat("sparse_softmax_cross_entropy_with_logits: labels must have one dimension less than "
            "logits: labels are ",
            of_labels, " (", labels.name(), "), logits ", of_logits, " (", logits.name(), ")"),
        where);
}

}  // namespace

Output sparse_softmax_cross_entropy_with_logits(Output logits, const Operand& labels, OpOptions o) {
  const std::string_view op = "SparseSoftmaxCrossEntropyWithLogits";
  Graph& graph = logits.graph();
  NameScope scope(graph, o.name.empty() ? op : o.name);
  const Output targets = labels.in(graph, DType::kInt64, "labels");
  check_ranks(logits, targets, o.where);
  const Output label_shape = shape_of(targets, o.where);
  if (logits.shape().rank() == 2) return graph.add(op, {logits, targets}, {}, op, o.where);
  const Output shape = shape_of(logits, o.where);
  const Output columns = last_dim(shape, rank_of(logits, o.where), o.where);
  Output rows;  // [product of the outer dimensions, classes]
  {
    NameScope reshape(graph, "Reshape");
    Output dims;
    {
      NameScope list(graph, "shape");
      dims = list_of({integer(graph, -1, "0"), columns}, list.name().c_str(), o.where);
    }
    rows = graph.add("Reshape", {logits, dims}, {}, reshape.name(), o.where);
  }
  const Output loss = graph.add(op, {rows, reshape_to(targets, {-1}, o.where)}, {}, op, o.where);
  return graph.add("Reshape", {loss, label_shape}, {}, "Reshape", o.where);
}

Output softmax_cross_entropy_with_logits(const Operand& labels, Output logits, OpOptions o) {
  Graph& graph = logits.graph();
  NameScope scope(graph, o.name.empty() ? "softmax_cross_entropy_with_logits_sg" : o.name);
  const Output given = labels.in(graph, base_of(logits.dtype()), "labels");
  const Output targets = graph.add("StopGradient", {given}, {}, "labels_stop_gradient", o.where);
  return dense_loss(targets, logits, scope, o.where);
}

Output softmax_cross_entropy_with_logits_v2(const Operand& labels, Output logits, OpOptions o) {
  Graph& graph = logits.graph();
  NameScope scope(graph, o.name.empty() ? "softmax_cross_entropy_with_logits" : o.name);
  const Output targets = labels.in(graph, base_of(logits.dtype()), "labels");
  return dense_loss(targets, logits, scope, o.where);
}

}  // namespace runnel
