// Specs, gradients and builders of reductions. With a shape known while the graph is built the gradients hold
// only Consts, else little graphs that work on shapes; both as TensorFlow's (formats 6.3), so that graphs can
// be compared.
#include "ops/reduction_ops.h"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <vector>

#include "graph/dataflow.h"
#include "graph/error.h"
#include "ops/arithmetic_ops.h"
#include "ops/array_gather_ops.h"
#include "ops/array_join_ops.h"
#include "ops/array_movement_ops.h"
#include "ops/array_set_ops.h"
#include "ops/array_shape_ops.h"
#include "ops/broadcast_gradient.h"
#include "ops/comparison_ops.h"
#include "ops/math_ops.h"
#include "ops/number_types.h"
#include "ops/scan_ops.h"

namespace runnel {
namespace {

constexpr const char* kOrderedT =
    "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64, qint8, "
    "quint8, "
    "qint32, qint16, quint16}";

using Dims = std::vector<std::int32_t>;

// For each dimension of `shape` whether it is one of `axes`. Throws InvalidArgument for axes that it lacks.
std::vector<bool> reduced_dims(const Shape& shape, const Tensor& axes) {
  std::vector<bool> reduced(static_cast<std::size_t>(shape.rank()));
  for (const std::int64_t axis : integers(axes)) {
    const std::int64_t i = axis < 0 ? axis + shape.rank() : axis;
    if (i < 0 || i >= shape.rank())
      throw InvalidArgument(cat("no axis ", axis, " in a tensor of rank ", shape.rank()));
    reduced[static_cast<std::size_t>(i)] = true;
  }
  return reduced;
}

Shapes reduced_shape(const ShapeContext& c) {
  const Shape in = c.input("input");
  const std::optional<Tensor> axes = c.constant("reduction_indices");
  const bool keep = c.flag("keep_dims");
  if (!in.has_rank()) return Shape::unknown();
  if (!axes) return keep ? Shape::unknown_of_rank(in.rank()) : Shape::unknown();
  std::vector<bool> reduced;
  try {
    reduced = reduced_dims(in, *axes);
  } catch (const Error& e) {
    c.refuse(e.what());
  }
  Shape out;
  for (int i = 0; i < in.rank(); ++i) {
    if (!reduced[static_cast<std::size_t>(i)])
      out.push_back(in[i]);
    else if (keep)
      out.push_back(1);
  }
  return out;
}

// Reducing nothing, or only dimensions of one, leaves the elements as they are.
bool reduces_nothing(const ShapeContext& c) {
  const Shape in = c.input("input");
  const std::optional<Tensor> axes = c.constant("reduction_indices");
  if (!axes || !in.is_known()) return false;
  const std::vector<bool> reduced = reduced_dims(in, *axes);
  for (int i = 0; i < in.rank(); ++i)
    if (reduced[static_cast<std::size_t>(i)] && in[i] != 1) return false;
  return true;
}

OpSpec reduction(const char* name, const char* types, Gradient gradient) {
  return {.name = name,
          .inputs = {"input: T", "reduction_indices: Tidx"},
          .outputs = {"output: T"},
          .attrs = {"keep_dims: bool = false", types, "Tidx: {int32, int64} = DT_INT32"},
          .shape = reduced_shape,
          .gradient = std::move(gradient),
          .traits = {.bind_values = {"reduction_indices"}, .view = reduces_nothing}};
}

// --- gradients

Output int_const(Graph& graph, std::int32_t value, std::string_view name) {
  return constant(graph, Tensor::scalar(value), {.name = std::string(name)});
}

// Reshape or Tile with its second input as a Const inside the scope of its name.
Output with_const(std::string_view op, Output x, const Dims& dims, std::string_view const_name) {
  const NameScope scope(x.graph(), op);
  const Output list = constant(x.graph(), Tensor::vector(dims), {.name = std::string(const_name)});
  return x.graph().add(op, {x, list}, {}, scope.name());
}

// 0, 1, ... count - 1, with `count` computed in the graph.
Output range_to(Output count) {
  Graph& graph = count.graph();
  const NameScope scope(graph, "range");
  const Output start = int_const(graph, 0, "start"), delta = int_const(graph, 1, "delta");
  return graph.add("Range", {start, count, delta}, {}, scope.name());
}

// How many dimensions `shape_vector` has.
Output size_of_shape(Output shape_vector) {
  if (shape_vector.shape().is_known())
    return int_const(shape_vector.graph(), static_cast<std::int32_t>(shape_vector.shape()[0]), "Size");
  return shape_vector.graph().add("Size", {shape_vector}, {}, "Size");
}

// The axes with negative ones counted from the end: (axes + rank) mod rank.
Output positive_axes(Output axes, Output rank) { return floormod(axes + rank, rank, {.name = "mod"}); }

// The shape `input_shape` with ones along `axes`, computed in the graph.
Output kept_shape(Output input_shape, Output axes) {
  Graph& graph = axes.graph();
  if (base_of(axes.dtype()) != DType::kInt32) axes = cast(axes, DType::kInt32);
  const Output rank = size_of_shape(input_shape);
  const Output places = positive_axes(axes, rank);
  const Output places_shape = shape_vector(places);
  const Output all = range_to(rank);
  Output ones;
  {
    const NameScope scope(graph, "ones");
    ones = graph.add("Fill", {places_shape, int_const(graph, 1, "Const")}, {}, scope.name());
  }
  return graph.add("DynamicStitch", {Argument(Outputs{all, places}), Argument(Outputs{input_shape, ones})});
}

// The value of a node's axes, if it is a Const.
std::optional<Tensor> constant_axes(const Node& n) {
  const Node& from = n.input(1).node();
  if (from.spec().traits.role != Role::kConstant) return std::nullopt;
  return from.tensor("value");
}

bool are_all_axes(const Shape& shape, const Tensor& axes) {
  const std::vector<std::int64_t> list = integers(axes);
  if (axes.shape().rank() != 1 || list.size() != static_cast<std::size_t>(shape.rank())) return false;
  for (std::size_t i = 0; i < list.size(); ++i)
    if (list[i] != static_cast<std::int64_t>(i)) return false;
  return true;
}

// The shape of x with ones along constant axes, and how often each dimension repeats to give x's shape again.
struct Stretch {
  Dims kept, multiples;
};
Stretch stretch_of(const Shape& shape, const Tensor& axes) {
  const std::vector<bool> reduced = reduced_dims(shape, axes);
  Stretch out;
  for (int i = 0; i < shape.rank(); ++i) {
    const bool r = reduced[static_cast<std::size_t>(i)];
    out.kept.push_back(r ? 1 : static_cast<std::int32_t>(shape[i]));
    out.multiples.push_back(r ? static_cast<std::int32_t>(shape[i]) : 1);
  }
  return out;
}

// The sum's gradient: every element that was added gets dy, that is, dy repeated along the reduced axes.
Output repeated(const Node& n, Output d) {
  const Output x = n.input(0);
  Graph& graph = n.graph();
  const std::optional<Tensor> axes = constant_axes(n);
  if (axes && x.shape().has_rank() && are_all_axes(x.shape(), *axes)) {
    const Output one = with_const("Reshape", d, Dims(static_cast<std::size_t>(x.shape().rank()), 1), "shape");
    return graph.add("Tile", {one, shape_vector(x, x.shape().is_known() ? "Const" : "Shape")});
  }
  if (axes && x.shape().is_known()) {
    const Stretch stretch = stretch_of(x.shape(), *axes);
    return with_const("Tile", with_const("Reshape", d, stretch.kept, "shape"), stretch.multiples,
                      "multiples");
  }
  const Output shape = shape_vector(x);
  if (!n.flag("keep_dims")) {
    Output kept;
    {
      const ColocateWith with(shape.node());
      kept = kept_shape(shape, n.input(1));
    }
    d = graph.add("Reshape", {d, kept});
  }
  return graph.add("BroadcastTo", {d, shape});
}

// How many elements went into each mean, as a tensor of dy's dtype.
Output elements_per_mean(const Node& n, DType type) {
  Graph& graph = n.graph();
  const Shape &in = n.input(0).shape(), &out = n.output_shape(0);
  if (in.is_known() && out.is_known()) {
    const std::int64_t count = in.elements() / std::max<std::int64_t>(out.elements(), 1);
    return Operand(count).in(graph, type, "Const");
  }
  const Output shape = shape_vector(n.input(0));
  const Output places = positive_axes(n.input(1), size_of_shape(shape));
  Output sizes;
  {
    const NameScope scope(graph, "GatherV2");
    sizes = graph.add("GatherV2", {shape, places, int_const(graph, 0, "axis")}, {}, scope.name());
  }
  return cast(reduce_prod(sizes), type);
}

// y = sum / count:  dx = dy repeated / count.
Grads mean_gradient(const Node& n, Grad dy) {
  const Output sum_gradient = repeated(n, dy);
  return {divide(sum_gradient, elements_per_mean(n, base_of(sum_gradient.dtype()))), Grad{}};
}

// dy goes in equal parts to the elements that are equal to the extreme.
Grads extreme_gradient(const Node& n, Grad dy) {
  const Output x = n.input(0);
  Output y = n.output(0), d = dy;
  const Output shape = shape_vector(x);
  const std::optional<Tensor> axes = constant_axes(n);
  const bool known = axes && x.shape().is_known(), keep = n.flag("keep_dims");
  Output kept;
  if (keep)
    kept = shape_vector(y);
  else if (!known)
    kept = kept_shape(shape, n.input(1));
  const auto stretched = [&](Output t) -> Output {
    return kept ? Output(n.graph().add("Reshape", {t, kept}))
                : with_const("Reshape", t, stretch_of(x.shape(), *axes).kept, "shape");
  };
  if (!keep) {
    y = stretched(y);
    d = stretched(d);
  }
  const Output chosen = cast(equal(y, x), base_of(d.dtype()));
  const Output count = n.graph().add("Sum", {chosen, n.input(1)});
  return {divide(chosen, stretched(count)) * d, Grad{}};
}

// The axes counted from 0, as int32, those that stay, and how many elements lie along both.
struct Split {
  Output order;  // the axes first, then the others
  Output along, beside;
};
Split split_axes(const Node& n, Output axes, Output shape) {
  const DeviceScope cpu(n.graph(), "/cpu:0");  // as TensorFlow
  const Output rank = runnel::rank(n.input(0));
  if (base_of(axes.dtype()) != DType::kInt32) axes = cast(axes, DType::kInt32);
  const Output reduced = positive_axes(axes, rank);
  const Output others = list_diff(range_to(rank), reduced).out;
  const Output order = concat({reduced, others}, 0);
  const Output along = reduce_prod(gather(shape, reduced));
  return {order, along, reduce_prod(gather(shape, others))};
}

// The shape of `permuted`, which is x with the axes of `n` brought to the front.
Output shape_with_axes_first(const Node& n, Output permuted) {
  const Shape& x = n.input(0).shape();
  const std::optional<Tensor> axes = constant_axes(n);
  if (!axes || !x.is_known()) return shape_vector(permuted);
  Dims dims;
  const std::vector<bool> reduced = reduced_dims(x, *axes);
  for (const std::int64_t axis : integers(*axes))
    dims.push_back(static_cast<std::int32_t>(x[static_cast<int>(axis < 0 ? axis + x.rank() : axis)]));
  for (int i = 0; i < x.rank(); ++i)
    if (!reduced[static_cast<std::size_t>(i)]) dims.push_back(static_cast<std::int32_t>(x[i]));
  return constant(n.graph(), Tensor::vector(dims), {.name = "Shape"});
}

// dy repeated to x's shape.
Output repeated_by_broadcast(const Node& n, Output d, Output shape) {
  const Shape& x = n.input(0).shape();
  const std::optional<Tensor> axes = constant_axes(n);
  if (!n.flag("keep_dims")) {
    if (axes && x.is_known())
      d = with_const("Reshape", d, stretch_of(x, *axes).kept, "shape");
    else
      d = n.graph().add("Reshape", {d, kept_shape(shape, n.input(1))});
  }
  return broadcast_to(d, shape);
}

// dx_i is dy times the product of all x but x_i, which is the product of those before it and of those after:
// no division, since x may be 0. The reduced axes become one for that, the first.
Grads product_gradient(const Node& n, Grad dy) {
  const Output x = n.input(0);
  const Output shape = shape_vector(x);
  const Output axes = reshape(n.input(1), {-1});
  const Output d = repeated_by_broadcast(n, dy, shape);
  const Split split = split_axes(n, axes, shape);
  const Output permuted = transpose(x, split.order);
  const Output permuted_shape = shape_with_axes_first(n, permuted);
  Output rows;  // [elements along the axes, elements beside them]
  {
    const NameScope scope(n.graph(), "Reshape");
    const Output dims = stack({split.along, split.beside}, {.name = "shape"});
    rows = n.graph().add("Reshape", {permuted, dims}, {}, scope.name());
  }
  const Output before = cumprod(rows, 0, {.exclusive = true});
  const Output after = cumprod(rows, 0, {.exclusive = true, .reverse = true});
  const Output others = reshape(before * after, permuted_shape);
  const Output factors = transpose(others, invert_permutation(split.order));
  return {reshape(d * factors, shape), Grad{}};
}

const OpRegistration kSum{reduction("Sum", kNumberT, [](const Node& n, Grad dy) -> Grads {
  return {repeated(n, dy), Grad{}};
})};
const OpRegistration kMean{reduction("Mean", kNumberT, mean_gradient)};
const OpRegistration kMax{reduction("Max", kOrderedT, extreme_gradient)};
const OpRegistration kMin{reduction("Min", kOrderedT, extreme_gradient)};
const OpRegistration kProd{reduction("Prod", kNumberT, product_gradient)};

// A reduction of bools has no T.
OpSpec bool_reduction(const char* name) {
  OpSpec spec = reduction(name, kNumberT, Gradient::none("returns bool"));
  spec.inputs[0] = "input: bool";
  spec.outputs[0] = "output: bool";
  spec.attrs.erase(spec.attrs.begin() + 1);
  return spec;
}
const OpRegistration kAll{bool_reduction("All")};
const OpRegistration kAny{bool_reduction("Any")};

// All axes of x: a Const beside the node, or a Range where the rank is 0 or not known, as in TensorFlow.
Output all_axes(Graph& graph, const Operand& x) {
  const Shape shape = x.shape();
  if (shape.has_rank() && shape.rank() > 0) {
    Dims axes(static_cast<std::size_t>(shape.rank()));
    std::iota(axes.begin(), axes.end(), 0);
    return constant(graph, Tensor::vector(axes));
  }
  if (shape.has_rank()) return range_to(int_const(graph, 0, "Rank"));
  return range_to(graph.add("Rank", {x.alone()}));
}

Graph& graph_of(std::string_view op, const Operand& x, const ReduceOptions& o) {
  if (!x.graph())
    throw InvalidArgument(cat(op, ": a value belongs to no graph: make it a constant(graph, value) first"),
                          o.where);
  return *x.graph();
}

Output reduce(std::string_view op, const Operand& x, const ReduceOptions& o) {
  Graph& graph = graph_of(op, x, o);
  const MadeAt place(graph, o.where);
  const Output axes = all_axes(graph, x);
  const NameScope scope(graph, o.name.empty() ? op : std::string_view(o.name));
  return graph.add(op, {x.in(graph, DType::kInvalid, ""), axes}, {{"keep_dims", o.keep_dims}}, scope.name(),
                   o.where);
}

Output reduce(std::string_view op, const Operand& x, const Axes& axes, const ReduceOptions& o) {
  Graph& graph = graph_of(op, x, o);
  const NameScope scope(graph, o.name.empty() ? op : std::string_view(o.name));
  const Output in = x.in(graph, DType::kInvalid, "");
  const Output list = constant(graph, axes.tensor(), {.name = "reduction_indices", .where = o.where});
  return graph.add(op, {in, list}, {{"keep_dims", o.keep_dims}}, scope.name(), o.where);
}

}  // namespace

Output reduce_sum(Operand x, ReduceOptions o) { return reduce("Sum", x, o); }
Output reduce_sum(Operand x, Axes axes, ReduceOptions o) { return reduce("Sum", x, axes, o); }
Output reduce_mean(Operand x, ReduceOptions o) { return reduce("Mean", x, o); }
Output reduce_mean(Operand x, Axes axes, ReduceOptions o) { return reduce("Mean", x, axes, o); }
Output reduce_max(Operand x, ReduceOptions o) { return reduce("Max", x, o); }
Output reduce_max(Operand x, Axes axes, ReduceOptions o) { return reduce("Max", x, axes, o); }
Output reduce_min(Operand x, ReduceOptions o) { return reduce("Min", x, o); }
Output reduce_min(Operand x, Axes axes, ReduceOptions o) { return reduce("Min", x, axes, o); }
Output reduce_prod(Operand x, ReduceOptions o) { return reduce("Prod", x, o); }
Output reduce_prod(Operand x, Axes axes, ReduceOptions o) { return reduce("Prod", x, axes, o); }
Output reduce_all(Operand x, ReduceOptions o) { return reduce("All", x, o); }
Output reduce_all(Operand x, Axes axes, ReduceOptions o) { return reduce("All", x, axes, o); }
Output reduce_any(Operand x, ReduceOptions o) { return reduce("Any", x, o); }
Output reduce_any(Operand x, Axes axes, ReduceOptions o) { return reduce("Any", x, axes, o); }

}  // namespace runnel
