// Specs and builders of what puts tensors together: Pack, ConcatV2, DynamicStitch.
#include "ops/array_join_ops.h"

#include <algorithm>

#include "graph/error.h"
#include "ops/array_gather_ops.h"
#include "ops/array_movement_ops.h"
#include "ops/array_ops.h"
#include "ops/array_shape_ops.h"
#include "ops/array_slice_ops.h"
#include "ops/axes.h"

namespace runnel {
namespace {

std::string name_or(std::string name, const char* otherwise) {
  return name.empty() ? otherwise : std::move(name);
}

// What is known of the one shape that all inputs from `first` to `last` have.
Shape common_shape(const ShapeContext& c, int first, int last) {
  Shape all = Shape::unknown();
  for (int i = first; i < last; ++i) {
    if (!all.compatible_with(c.input(i))) c.refuse("the shapes differ");
    all = all.merged_with(c.input(i));
  }
  return all;
}

// --- Pack

Shapes pack_shape(const ShapeContext& c) {
  const Shape each = common_shape(c, 0, c.inputs());
  if (!each.has_rank()) return Shape::unknown();
  return with_dimension(each, axis_in(c, c.integer("axis"), each.rank() + 1, "axis"), c.inputs());
}

// Numbers packed into a vector may be a shape; what is not known or negative is unknown.
std::optional<Shape> pack_as_shape(const ShapeContext& c) {
  Shape out;
  for (int i = 0; i < c.inputs(); ++i) {
    if (c.input(i).rank() != 0) return std::nullopt;
    const DType type = base_of(c.node().input(i).dtype());
    if (type != DType::kInt32 && type != DType::kInt64) return std::nullopt;
    const std::optional<Tensor> value = c.constant(i);
    out.push_back(value ? std::max(integers(*value)[0], kUnknown) : kUnknown);
  }
  return out;
}

const OpRegistration kPack{{
    .name = "Pack",
    .inputs = {"values: N * T"},
    .outputs = {"output: T"},
    .attrs = {"N: int >= 1", "T: type", "axis: int = 0"},
    .shape = pack_shape,
    .gradient = [](const Node& n, Grad d) -> Grads {
      const Node& parts =
          n.graph().add("Unpack", {d.dense()}, {{"num", n.inputs()}, {"axis", n.integer("axis")}}, "unstack");
      const Outputs all = outputs_of(parts);
      return {all.begin(), all.end()};
    },
    .traits = {.view = [](const ShapeContext& c) { return c.inputs() == 1; }},
    .as_shape = pack_as_shape,
}};

// --- ConcatV2, ConcatOffset

Shapes concat_shape(const ShapeContext& c) {
  const int n = c.count("values");
  int rank = -1;
  for (int i = 0; i < n; ++i) {
    if (!c.input(i).has_rank()) continue;
    if (rank >= 0 && c.input(i).rank() != rank) c.refuse("the ranks differ");
    rank = c.input(i).rank();
  }
  if (rank == 0) c.refuse("scalars have no dimension to go along; use stack");
  const std::optional<std::int64_t> axis = single_integer(c, "axis");
  if (rank < 0) return Shape::unknown();
  if (!axis) return Shape::unknown_of_rank(rank);
  const int at = axis_in(c, *axis, rank, "axis");
  Shape out = Shape::unknown_of_rank(rank);
  std::int64_t sum = 0;
  for (int i = 0; i < n; ++i) {
    Shape each = c.input(i).has_rank() ? c.input(i) : Shape::unknown_of_rank(rank);
    if (sum >= 0 && (each[at] < 0 || __builtin_add_overflow(sum, each[at], &sum))) sum = kUnknown;
    each.set(at, kUnknown);
    if (!out.compatible_with(each)) c.refuse(cat("the shapes differ in more than dimension ", at));
    out = out.merged_with(each);
  }
  out.set(at, sum);
  return out;
}

// Vectors of a shape's dimensions set one after another are a shape.
std::optional<Shape> concat_as_shape(const ShapeContext& c) {
  Shape out;
  for (int i = 0; i < c.count("values"); ++i) {
    const std::optional<Shape> part = c.input(i).rank() == 1 ? c.input_as_shape(i) : std::nullopt;
    if (!part || !part->has_rank()) return std::nullopt;
    for (const std::int64_t dim : part->dims()) out.push_back(dim);
  }
  return out;
}

// The shapes of the values: Consts where all are known, else one ShapeN (after the first that was not known,
// as TensorFlow leaves it).
Outputs shapes_of(const Outputs& values) {
  Outputs out;
  for (const Output& value : values) {
    out.push_back(shape(value));
    if (out.back().node().spec().traits.role != Role::kConstant) return shape_n(values);
  }
  return out;
}

// More than this many values are split, not sliced, in TensorFlow.
constexpr std::size_t kManyValues = 16;

// The gradient split along `axis` into parts as long as these shapes are there.
Outputs split_like(Output d, Output axis, const Outputs& shapes) {
  Graph& graph = d.graph();
  const Output all = stack(shapes, {.axis = 1});  // [rank, values]
  Output row;                                     // [1, values]
  {
    const NameScope scope(graph, "Slice");
    const Output begin = stack_scalars({axis, 0}, {.name = "begin"});
    const Output count = Integers({1, -1}).in(graph, "size", {});
    row = graph.add("Slice", {all, begin, count}, {}, scope.name());
  }
  return outputs_of(graph.add("SplitV", {d, squeeze(row), axis}, {{"num_split", shapes.size()}}, "split"));
}

// Each value gets the part of the gradient that lies where the value was put.
Grads concat_gradient(const Node& n, Grad d) {
  const auto count = static_cast<std::size_t>(n.input_count("values"));
  const Outputs values(n.input_list().begin(), n.input_list().begin() + static_cast<std::ptrdiff_t>(count));
  const Output axis = add_binary("FloorMod", "mod", n.input("axis"), rank(values[0]), {}, {});
  const Outputs shapes = shapes_of(values);
  Grads out;
  if (count > kManyValues) {
    for (const Output& part : split_like(d, axis, shapes)) out.push_back(part);
  } else {
    const Node& offsets = n.graph().add("ConcatOffset", {axis, shapes});
    for (std::size_t i = 0; i < count; ++i)
      out.push_back(slice(d.dense(), offsets.output(static_cast<int>(i)), shapes[i]));
  }
  out.push_back({});
  return out;
}

const OpRegistration kConcatV2{{
    .name = "ConcatV2",
    .inputs = {"values: N * T", "axis: Tidx"},
    .outputs = {"output: T"},
    .attrs = {"N: int >= 2", "T: type", "Tidx: {int32, int64} = DT_INT32"},
    .shape = concat_shape,
    .gradient = concat_gradient,
    .traits = {.bind_values = {"axis"}},
    .as_shape = concat_as_shape,
}};

const OpRegistration kConcatOffset{{
    .name = "ConcatOffset",
    .inputs = {"concat_dim: int32", "shape: N * shape_type"},
    .outputs = {"offset: N * shape_type"},
    .attrs = {"N: int >= 2", "shape_type: {int32, int64} = DT_INT32"},
    .shape = [](const ShapeContext& c) -> Shapes {
      const Shape each = common_shape(c, 1, c.inputs());
      if (each.has_rank() && each.rank() != 1) c.refuse("a shape is no vector");
      return std::vector<Shape>(static_cast<std::size_t>(c.node().outputs()), each);
    },
    .gradient = Gradient::none("it computes positions"),
    .traits = {.bind_values = {"concat_dim"}},
}};

// --- DynamicStitch

Shapes stitch_shape(const ShapeContext& c) {
  const int n = c.count("indices");
  Shape row = Shape::unknown();
  std::int64_t rows = 0;
  for (int i = 0; i < n; ++i) {
    const Shape at = c.input("indices", i), data = c.input("data", i);
    if (const std::optional<Tensor> value = c.constant(c.position("indices", i)); value && rows >= 0)
      for (const std::int64_t index : integers(*value)) rows = std::max(rows, index + 1);
    else
      rows = kUnknown;
    if (!at.has_rank() || !data.has_rank()) continue;
    if (data.rank() < at.rank()) c.refuse(cat("data[", i, "] has fewer dimensions than its indices"));
    const Shape front(data.dims().first(static_cast<std::size_t>(at.rank())));
    const Shape rest(data.dims().subspan(static_cast<std::size_t>(at.rank())));
    if (!front.compatible_with(at))
      c.refuse(cat("data[", i, "] does not start with the shape of its indices"));
    if (!row.compatible_with(rest)) c.refuse("the rows have different shapes");
    row = row.merged_with(rest);
  }
  return row.has_rank() ? with_dimension(row, 0, rows) : Shape::unknown();
}

const OpRegistration kDynamicStitch{{
    .name = "DynamicStitch",
    .inputs = {"indices: N * int32", "data: N * T"},
    .outputs = {"merged: T"},
    .attrs = {"N: int >= 1", "T: type"},
    .shape = stitch_shape,
    .gradient = [](const Node& n, Grad d) -> Grads {
      const int count = n.input_count("indices");
      Grads out(static_cast<std::size_t>(count));
      for (int i = 0; i < count; ++i) out.push_back(gather(d.dense(), n.input(i)));
      return out;
    },
    .traits = {.bind_values = {"indices"}},
}};

// One value needs no joining; TensorFlow leaves an Identity under the scope's name.
Output only(const Outputs& values, Location where) {
  return identity(values[0], {.name = "concat", .where = where});
}

}  // namespace

Output stack(const Outputs& values, StackOptions o) {
  if (values.empty()) throw InvalidArgument("stack: no tensors", o.where);
  return values[0].graph().add("Pack", {values}, {{"axis", o.axis}}, name_or(std::move(o.name), "stack"),
                               o.where);
}

Output stack_scalars(const std::vector<Operand>& values, StackOptions o) {
  const auto known =
      std::ranges::find_if(values, [](const Operand& value) { return value.graph() != nullptr; });
  if (known == values.end())
    throw InvalidArgument("stack_scalars: no tensor of a graph; use constant", o.where);
  Graph& graph = *known->graph();
  const NameScope scope(graph, name_or(std::move(o.name), "stack"));
  Outputs all;
  for (const Operand& value : values) all.push_back(value.in(graph, known->dtype(), cat(all.size())));
  return graph.add("Pack", {all}, {{"axis", o.axis}}, scope.name(), o.where);
}

Output concat(const Outputs& values, int axis, OpOptions o) {
  if (values.empty()) throw InvalidArgument("concat: no tensors", o.where);
  Graph& graph = values[0].graph();
  const NameScope scope(graph, name_or(std::move(o.name), "concat"));
  const Output at =
      integer_constant(graph, DType::kInt32, axis, values.size() > 1 ? "axis" : "concat_dim", o.where);
  if (values.size() == 1) return only(values, o.where);
  return graph.add("ConcatV2", {values, at}, {}, scope.name(), o.where);
}

Output concat(const Outputs& values, Output axis, OpOptions o) {
  if (values.empty()) throw InvalidArgument("concat: no tensors", o.where);
  Graph& graph = values[0].graph();
  const NameScope scope(graph, name_or(std::move(o.name), "concat"));
  if (values.size() == 1) return only(values, o.where);
  return graph.add("ConcatV2", {values, axis}, {}, scope.name(), o.where);
}

Output dynamic_stitch(const Outputs& indices, const Outputs& data, OpOptions o) {
  if (indices.empty()) throw InvalidArgument("dynamic_stitch: no tensors", o.where);
  return indices[0].graph().add("DynamicStitch", {indices, data}, {}, o.name, o.where);
}

}  // namespace runnel
