// Specs and builders of what makes shapes and what is made from shapes.
#include "ops/array_shape_ops.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "graph/error.h"
#include "ops/operand.h"

namespace runnel {
namespace {

constexpr const char* kOutType = "out_type: {int32, int64} = DT_INT32";

Shape vector_of_rank(const Shape& shape) {
  return Shape{shape.has_rank() ? static_cast<std::int64_t>(shape.rank()) : kUnknown};
}

const OpRegistration kShape{{
    .name = "Shape",
    .inputs = {"input: T"},
    .outputs = {"output: out_type"},
    .attrs = {"T: type", kOutType},
    .shape = [](const ShapeContext& c) -> Shapes { return vector_of_rank(c.input(0)); },
    .gradient = Gradient::none("it depends on the shape alone"),
    .traits = {.role = Role::kShapeOf},
    .as_shape = [](const ShapeContext& c) -> std::optional<Shape> {
      const Shape shape = c.input(0);
      return shape.has_rank() ? std::optional(shape) : std::nullopt;
    },
}};

// The shape of what a resource variable holds, for the gradients that TensorFlow builds of conditionals.
const OpRegistration kVariableShape{{
    .name = "VariableShape",
    .inputs = {"input: resource"},
    .outputs = {"output: out_type"},
    .attrs = {kOutType},
    .shape = [](const ShapeContext& c) -> Shapes { return vector_of_rank(c.variable_shape(0)); },
    .gradient = Gradient::none("it depends on the shape alone"),
    .traits = {.stateful = true},
    .as_shape = [](const ShapeContext& c) -> std::optional<Shape> {
      const Shape shape = c.variable_shape(0);
      return shape.has_rank() ? std::optional(shape) : std::nullopt;
    },
}};

const OpRegistration kShapeN{{
    .name = "ShapeN",
    .inputs = {"input: N * T"},
    .outputs = {"output: N * out_type"},
    .attrs = {"N: int >= 1", "T: type", kOutType},
    .shape = [](const ShapeContext& c) -> Shapes {
      std::vector<Shape> out;
      for (int i = 0; i < c.inputs(); ++i) out.push_back(vector_of_rank(c.input(i)));
      return out;
    },
    .gradient = Gradient::none("it depends on the shapes alone"),
    .traits = {.role = Role::kShapeOf},
}};

const OpRegistration kSize{{
    .name = "Size",
    .inputs = {"input: T"},
    .outputs = {"output: out_type"},
    .attrs = {"T: type", kOutType},
    .shape = scalar_shape,
    .gradient = Gradient::none("it depends on the shape alone"),
    .traits = {.role = Role::kShapeOf},
}};

const OpRegistration kRank{{
    .name = "Rank",
    .inputs = {"input: T"},
    .outputs = {"output: int32"},
    .attrs = {"T: type"},
    .shape = scalar_shape,
    .gradient = Gradient::none("it depends on the shape alone"),
    .traits = {.role = Role::kShapeOf},
}};

// The shape that the elements of input `arg` are, all of which must be >= 0.
Shape shape_from(const ShapeContext& c, std::string_view arg) {
  if (const Shape vector = c.input(arg); vector.has_rank() && vector.rank() != 1)
    c.refuse(cat(arg, " has rank ", vector.rank(), ", not 1"));
  if (const std::optional<Tensor> value = c.constant(arg)) {
    const std::vector<std::int64_t> dims = integers(*value);
    for (const std::int64_t dim : dims)
      if (dim < 0) c.refuse(cat(arg, " holds a dimension of ", dim));
    return Shape(dims);
  }
  return c.input_as_shape(arg).value_or(Shape::unknown());
}

// The sum of all elements, as tf.reduce_sum without axes.
Output sum_of_all(Output x) {
  Graph& graph = x.graph();
  Output axes;
  if (x.shape().has_rank()) {
    std::vector<std::int64_t> all(static_cast<std::size_t>(x.shape().rank()));
    std::iota(all.begin(), all.end(), 0);
    axes = Integers(all).in(graph, "Const", {});
  } else {
    axes = range(0, rank(x), 1);
  }
  return graph.add("Sum", {x, axes}, {{"keep_dims", false}});
}

const OpRegistration kFill{{
    .name = "Fill",
    .inputs = {"dims: index_type", "value: T"},
    .outputs = {"output: T"},
    .attrs = {"T: type", "index_type: {int32, int64} = DT_INT32"},
    .shape = [](const ShapeContext& c) -> Shapes {
      c.input("value", Rank{0});
      return shape_from(c, "dims");
    },
    // Each element is the value itself, so it gets the sum of all their gradients.
    .gradient = [](const Node&, Grad d) -> Grads {
      return {{}, sum_of_all(d)};
    },
    .traits = {.bind_values = {"dims"}},
}};

const OpRegistration kZerosLike{{
    .name = "ZerosLike",
    .inputs = {"x: T"},
    .outputs = {"y: T"},
    .attrs = {"T: type"},
    .shape = same_shape,
    .gradient = Gradient::none("it does not depend on the values"),
}};

const OpRegistration kOnesLike{{
    .name = "OnesLike",
    .inputs = {"x: T"},
    .outputs = {"y: T"},
    .attrs = {"T: {bfloat16, half, float, double, int8, uint8, int16, uint16, int32, uint32, int64, uint64, "
              "complex64, "
              "complex128, bool}"},
    .shape = same_shape,
    .gradient = Gradient::none("it does not depend on the values"),
}};

// What is no length of a range: delta leads away from limit, or there is no end to it.
constexpr std::int64_t kLeadsAway = -2, kTooMany = -3;

// How many elements a range has, in T's own arithmetic as TensorFlow counts them.
template <class T>
std::int64_t range_length(const Tensor& start_in, const Tensor& limit_in, const Tensor& delta_in) {
  const T start = start_in.scalar<T>(), limit = limit_in.scalar<T>(), delta = delta_in.scalar<T>();
  if (delta > T(0) ? start > limit : start < limit) return kLeadsAway;
  if constexpr (std::is_floating_point_v<T>) {
    const T length = std::ceil(std::abs((limit - start) / delta));
    return length < static_cast<T>(std::numeric_limits<std::int64_t>::max())
               ? static_cast<std::int64_t>(length)
               : kTooMany;
  } else {
    // Unsigned differences hold what signed ones cannot.
    const auto from = static_cast<std::uint64_t>(start), to = static_cast<std::uint64_t>(limit);
    const std::uint64_t distance = delta > T(0) ? to - from : from - to;
    const auto step = static_cast<std::uint64_t>(delta);
    const std::uint64_t size = delta > T(0) ? step : 0 - step;
    const std::uint64_t length = distance / size + (distance % size != 0 ? 1 : 0);
    return length <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())
               ? static_cast<std::int64_t>(length)
               : kTooMany;
  }
}

std::int64_t range_length(DType type, const Tensor& start, const Tensor& limit, const Tensor& delta) {
  switch (type) {
    case DType::kFloat: return range_length<float>(start, limit, delta);
    case DType::kDouble: return range_length<double>(start, limit, delta);
    case DType::kInt8: return range_length<std::int8_t>(start, limit, delta);
    case DType::kInt16: return range_length<std::int16_t>(start, limit, delta);
    case DType::kInt32: return range_length<std::int32_t>(start, limit, delta);
    case DType::kInt64: return range_length<std::int64_t>(start, limit, delta);
    case DType::kUint16: return range_length<std::uint16_t>(start, limit, delta);
    case DType::kUint32: return range_length<std::uint32_t>(start, limit, delta);
    case DType::kUint64: return range_length<std::uint64_t>(start, limit, delta);
    default: return kUnknown;  // no kernel either
  }
}

bool is_zero(const Tensor& number) { return number == Tensor::zeros(number.dtype(), number.shape()); }

Shapes range_shape(const ShapeContext& c) {
  for (const char* arg : {"start", "limit", "delta"}) c.input(arg, Rank{0});
  const std::optional<Tensor> start = c.constant("start"), limit = c.constant("limit"),
                              delta = c.constant("delta");
  if (delta && is_zero(*delta)) c.refuse("delta is 0");
  if (!start || !limit || !delta) return Shape{kUnknown};
  const std::int64_t length = range_length(start->dtype(), *start, *limit, *delta);
  if (length == kLeadsAway)
    c.refuse(cat("delta ", delta->text(), " never leads from ", start->text(), " to ", limit->text()));
  if (length == kTooMany) c.refuse("the range has more elements than can be counted");
  return Shape{length};
}

const OpRegistration kRange{{
    .name = "Range",
    .inputs = {"start: Tidx", "limit: Tidx", "delta: Tidx"},
    .outputs = {"output: Tidx"},
    .attrs = {"Tidx: {bfloat16, half, float, double, int8, int16, int32, int64, uint16, uint32, uint64} = "
              "DT_INT32"},
    .shape = range_shape,
    .gradient = Gradient::none("TensorFlow has none"),
    .traits = {.bind_values = {"start", "limit", "delta"}},
}};

const OpRegistration kBroadcastGradientArgs{{
    .name = "BroadcastGradientArgs",
    .inputs = {"s0: T", "s1: T"},
    .outputs = {"r0: T", "r1: T"},
    .attrs = {"T: {int32, int64} = DT_INT32"},
    .shape = [](const ShapeContext& c) -> Shapes {
      c.input("s0", Rank{1});
      c.input("s1", Rank{1});
      const std::optional<Tensor> a = c.constant("s0"), b = c.constant("s1");
      if (!a || !b) return {Shape{kUnknown}, Shape{kUnknown}};
      const BroadcastAxes axes = broadcast_axes(shape_from(c, "s0"), shape_from(c, "s1"));
      return {Shape{static_cast<std::int64_t>(axes.a.size())},
              Shape{static_cast<std::int64_t>(axes.b.size())}};
    },
    .gradient = Gradient::none("it computes axes"),
    .traits = {.bind_values = {"s0", "s1"}},
}};

// TensorFlow writes tensors of fewer elements into the graph.
constexpr std::int64_t kSmall = 1000;

// A tensor of this shape and one value: a Const where it is small, else a Fill.
Output filled(Graph& graph, const Tensor& value, const Shape& shape, std::string_view name, Location where) {
  if (shape.elements() < kSmall) {
    Tensor all(value.dtype(), shape);
    if (value.dtype() != DType::kString)
      for (std::int64_t i = 0; i < shape.elements(); ++i)
        std::memcpy(static_cast<char*>(all.mutable_data()) + i * static_cast<std::int64_t>(value.bytes()),
                    value.data(), value.bytes());
    return constant(graph, all, {.name = std::string(name), .where = where});
  }
  const NameScope scope(graph, name);
  const Output dims = Integers(shape).in(graph, "shape_as_tensor", where);
  return graph.add("Fill", {dims, constant(graph, value, {.name = "Const", .where = where})}, {},
                   scope.name(), where);
}

// One, of any type that has one.
Tensor one(DType type) {
  switch (type) {
    case DType::kBool: return Tensor::scalar(true);
    case DType::kHalf: return Tensor::scalar(Half{0x3c00});
    case DType::kBfloat16: return Tensor::scalar(Bfloat16{0x3f80});
    case DType::kComplex64: return Tensor::scalar(std::complex<float>(1));
    case DType::kComplex128: return Tensor::scalar(std::complex<double>(1));
    case DType::kFloat: return Tensor::scalar(1.f);
    case DType::kDouble: return Tensor::scalar(1.);
    case DType::kInt8: return Tensor::scalar<std::int8_t>(1);
    case DType::kInt16: return Tensor::scalar<std::int16_t>(1);
    case DType::kInt32: return Tensor::scalar<std::int32_t>(1);
    case DType::kInt64: return Tensor::scalar<std::int64_t>(1);
    case DType::kUint8: return Tensor::scalar<std::uint8_t>(1);
    case DType::kUint16: return Tensor::scalar<std::uint16_t>(1);
    case DType::kUint32: return Tensor::scalar<std::uint32_t>(1);
    case DType::kUint64: return Tensor::scalar<std::uint64_t>(1);
    default: throw InvalidArgument(cat("there is no one of type ", type));
  }
}

std::string name_or(std::string name, const char* otherwise) {
  return name.empty() ? otherwise : std::move(name);
}

}  // namespace

Output shape(Operand x, ShapeOptions o) {
  const Output in = x.alone();
  const Shape& known = in.shape();
  const std::string name = name_or(std::move(o.name), "Shape");
  const bool fits =
      o.out_type == DType::kInt64 ||
      (known.is_known() && std::ranges::all_of(known.dims(), [](auto d) { return d <= INT32_MAX; }));
  if (known.is_known() && fits) return Integers(known).in(in.graph(), name, o.where, o.out_type);
  return in.graph().add("Shape", {in}, {{"out_type", o.out_type}}, name, o.where);
}

Outputs shape_n(const Outputs& xs, ShapeOptions o) {
  if (xs.empty()) throw InvalidArgument("shape_n: no tensors", o.where);
  const Node& node = xs[0].graph().add("ShapeN", {xs}, {{"out_type", o.out_type}}, o.name, o.where);
  Outputs out;
  for (int i = 0; i < node.outputs(); ++i) out.push_back(node.output(i));
  return out;
}

Output size(Operand x, ShapeOptions o) {
  const Output in = x.alone();
  const std::string name = name_or(std::move(o.name), "Size");
  const bool known =
      in.shape().is_known() && (o.out_type == DType::kInt64 || in.shape().elements() <= INT32_MAX);
  if (known) return integer_constant(in.graph(), o.out_type, in.shape().elements(), name, o.where);
  return in.graph().add("Size", {in}, {{"out_type", o.out_type}}, name, o.where);
}

Output rank(Operand x, OpOptions o) {
  const Output in = x.alone();
  const std::string name = name_or(std::move(o.name), "Rank");
  if (in.shape().has_rank())
    return integer_constant(in.graph(), DType::kInt32, in.shape().rank(), name, o.where);
  return in.graph().add("Rank", {in}, {}, name, o.where);
}

Output fill(Output dims, Operand value, OpOptions o) {
  Graph& graph = dims.graph();
  const NameScope scope(graph, name_or(std::move(o.name), "Fill"));
  const DType type = value.dtype() == DType::kInvalid ? DType::kFloat : value.dtype();
  return graph.add("Fill", {dims, value.in(graph, type, "value")}, {}, scope.name(), o.where);
}

Output zeros(Graph& graph, DType type, const Shape& shape, OpOptions o) {
  if (!shape.is_known())
    throw InvalidArgument(cat("zeros: shape ", shape, " is not known; use zeros_like"), o.where);
  return filled(graph, Tensor::zeros(type, {}), shape, name_or(std::move(o.name), "zeros"), o.where);
}

Output ones(Graph& graph, DType type, const Shape& shape, OpOptions o) {
  if (!shape.is_known())
    throw InvalidArgument(cat("ones: shape ", shape, " is not known; use ones_like"), o.where);
  return filled(graph, one(type), shape, name_or(std::move(o.name), "ones"), o.where);
}

Output zeros_like(Operand x, OpOptions o) {
  const Output in = x.alone();
  const std::string name = name_or(std::move(o.name), "zeros_like");
  const DType type = base_of(in.dtype());
  if (in.shape().is_known() && type != DType::kVariant && type != DType::kResource)
    return zeros(in.graph(), type, in.shape(), {.name = name, .where = o.where});
  return in.graph().add("ZerosLike", {in}, {}, name, o.where);
}

Output ones_like(Operand x, OpOptions o) { return ones_like(x, base_of(x.dtype()), std::move(o)); }

Output ones_like(Operand x, DType type, OpOptions o) {
  const Output in = x.alone();
  Graph& graph = in.graph();
  const Tensor value = one(type);
  const NameScope scope(graph, name_or(std::move(o.name), "ones_like"));
  const Output dims = in.shape().is_known()
                          ? Integers(in.shape()).in(graph, "Shape/shape_as_tensor", o.where)
                          : Output(graph.add("Shape", {in}, {{"out_type", DType::kInt32}}, "Shape", o.where));
  return graph.add("Fill", {dims, constant(graph, value, {.name = "Const", .where = o.where})}, {},
                   scope.name(), o.where);
}

Output range(Operand start, Operand limit, Operand delta, OpOptions o) {
  Graph* graph = nullptr;
  DType type = DType::kInvalid;
  for (const Operand* each : {&start, &limit, &delta}) {
    if (!graph) graph = each->graph();
    if (type == DType::kInvalid) type = each->dtype();
  }
  if (!graph)
    throw InvalidArgument("range: three numbers belong to no graph: make one a constant(graph, value)",
                          o.where);
  const NameScope scope(*graph, name_or(std::move(o.name), "range"));
  const Output from = start.in(*graph, type, "start"), to = limit.in(*graph, type, "limit");
  return graph->add("Range", {from, to, delta.in(*graph, type, "delta")}, {}, scope.name(), o.where);
}

}  // namespace runnel
