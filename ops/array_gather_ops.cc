// Spec, gradient and builder of GatherV2.
#include "ops/array_gather_ops.h"

#include "graph/error.h"
#include "graph/infer.h"
#include "ops/arithmetic_ops.h"
#include "ops/array_join_ops.h"
#include "ops/array_movement_ops.h"
#include "ops/array_shape_ops.h"
#include "ops/array_slice_ops.h"
#include "ops/integers.h"
#include "ops/math_ops.h"
#include "ops/reduction_ops.h"

namespace runnel {
namespace {

Shapes gather_shape(const ShapeContext& c) {
  const Shape params = c.input("params"), indices = c.input("indices");
  const std::optional<Tensor> value = c.constant("axis");
  if (value && value->elements() != 1) c.refuse(cat("axis has ", value->elements(), " elements, not 1"));
  std::int64_t batch = c.integer("batch_dims");
  if (!params.has_rank() || !indices.has_rank()) return Shape::unknown();
  if (batch < 0) batch += indices.rank();
  if (batch < 0 || batch > indices.rank() || batch > params.rank())
    c.refuse(cat("batch_dims ", c.integer("batch_dims"), " is not a number of dimensions that both have"));
  if (!value) return Shape::unknown_of_rank(params.rank() + indices.rank() - 1 - static_cast<int>(batch));
  const std::int64_t axis = integers(*value)[0], at = axis < 0 ? axis + params.rank() : axis;
  if (at < batch || at >= params.rank())
    c.refuse(cat("axis ", axis, " is not in [", batch, ", ", params.rank(), ")"));
  Shape out;
  for (int i = 0; i < at; ++i)
    out.push_back(i < batch ? c.require_equal(params[i], indices[i], "batch dimensions") : params[i]);
  for (int i = static_cast<int>(batch); i < indices.rank(); ++i) out.push_back(indices[i]);
  for (int i = static_cast<int>(at) + 1; i < params.rank(); ++i) out.push_back(params[i]);
  return out;
}

// --- slices of a vector, with the nodes that Python's subscripts make of numbers and tensors

Output packed(Output number, std::string_view name) { return stack({number}, {.name = std::string(name)}); }

Output take(Output vector, Output begin, Output end, Output step, Attrs masks, std::string_view scope) {
  return vector.graph().add("StridedSlice", {vector, begin, end, step}, std::move(masks), scope);
}

// vector[begin:end:1], one of which may be a number that a mask hides.
Output range_of(Output vector, Output begin, Output end, Output step, const char* mask) {
  const NameScope scope(vector.graph(), "strided_slice");
  const Output from = packed(begin, "stack"), to = packed(end, "stack_1"), by = packed(step, "stack_2");
  return take(vector, from, to, by, {{mask, 1}}, scope.name());
}

Output number(Graph& graph, std::int64_t value) {
  return integer_constant(graph, DType::kInt32, value, "Const");
}

Output before(Output vector, Output axis) {
  Graph& graph = vector.graph();
  const Output hidden = number(graph, 0), step = number(graph, 1);
  return range_of(vector, hidden, axis, step, "begin_mask");
}

Output from(Output vector, Output axis) {
  Graph& graph = vector.graph();
  const Output hidden = number(graph, 0), step = number(graph, 1);
  return range_of(vector, axis, hidden, step, "end_mask");
}

Output after_first(Output vector) { return subvector(vector, 1, std::nullopt); }

Output entry(Output vector, Output at) {
  Graph& graph = vector.graph();
  const Output next = add_binary("AddV2", "add", at, 1, {}, {});
  const NameScope scope(graph, "strided_slice");
  const Output begin = packed(at, "stack"), end = packed(next, "stack_1");
  return take(vector, begin, end, Integers({1}).in(graph, "stack_2", {}), {{"shrink_axis_mask", 1}},
              scope.name());
}

// Vectors one after another; where a part is a list of one number it is named by its place.
struct Part {
  Output vector;              // or empty:
  Output scalar = {};         // a tensor of one number, or empty:
  std::int64_t constant = 0;  // a number
};
Output joined(Graph& graph, std::initializer_list<Part> parts) {
  const NameScope scope(graph, "concat");
  Outputs all;
  for (const Part& part : parts) {
    const std::string name = cat("values_", all.size());
    all.push_back(part.vector   ? part.vector
                  : part.scalar ? packed(cast(part.scalar, DType::kInt32), name)
                                : Integers({part.constant}).in(graph, name, {}));
  }
  const Output axis = integer_constant(graph, DType::kInt32, 0, "axis");
  return graph.add("ConcatV2", {all, axis}, {}, scope.name());
}

// --- the gradient

// Along axis 0 the gradient is rows of params: rows `indices` get those of d.
Grad rows(const Node& n, Output d, Output shape_of_params, Output count) {
  const Output shape = joined(n.graph(), {{count}, {after_first(shape_of_params)}});
  const Output values = reshape(d, shape);
  return IndexedSlices{values, reshape(n.input(1), count), shape_of_params};
}

int batch_dims_of(const Node& n) {
  const std::int64_t stated = n.integer("batch_dims");
  if (stated >= 0) return static_cast<int>(stated);
  const Shape& indices = n.input(1).shape();
  if (!indices.has_rank())
    throw Unimplemented(cat("batch_dims ", stated, " counts from the end of indices of unknown rank"));
  return static_cast<int>(stated + indices.rank());
}

// As many ones as a number, or a tensor of one, says.
Output ones(Graph& graph, const Part& count) {
  const NameScope scope(graph, "Tile");
  const Output one = Integers({1}).in(graph, "input", {});
  const Output multiples = count.scalar ? packed(count.scalar, "multiples")
                                        : Integers({count.constant}).in(graph, "multiples", {});
  return graph.add("Tile", {one, multiples}, {}, scope.name());
}

// The indices as into the rows of all batches together: each with the number of rows before its batch added.
// `dims` are those of params with the gathered one right behind the batches'.
Output across_batches(Output indices, Output dims, int batch_dims) {
  Graph& graph = indices.graph();
  const DType type = base_of(indices.dtype());
  dims = cast(dims, type);
  Output rows = integer_constant(graph, type, 1, "ones");  // that an entry of the dimension stands for
  for (int dim = batch_dims; dim > 0; --dim) {
    const Output entries = dims[dim - 1];
    rows = rows * dims[dim];
    const Output zero = integer_constant(graph, type, 0, "zeros");
    const Output starts = range(zero, entries, integer_constant(graph, type, 1, "ones")) * rows;
    const Output before = ones(graph, {.vector = {}, .constant = dim - 1});
    const Output behind =
        ones(graph, {.vector = {}, .scalar = add_binary("Sub", "sub", rank(indices), dim, {}, {})});
    const Output shape = joined(graph, {{before}, {.vector = {}, .scalar = entries}, {behind}});
    indices = indices + reshape(starts, shape);
  }
  return indices;
}

// The sums of rows by their index in each batch, under the shape of `values` but for the gathered dimension,
// which has `count` entries. That one is right behind the batches' in values and dims.
Output sums_by_batch(Output values, Output indices, Output index_count, Output dims, Output count,
                     int batch_dims) {
  Graph& graph = values.graph();
  const Output shape_of_values = shape(values);
  const Output outer = subvector(shape_of_values, std::nullopt, batch_dims);
  const Output inner = after_first(subvector(shape_of_values, batch_dims, std::nullopt));
  const Output batches = reduce_prod(outer, Axes{0});
  const Output flat = joined(graph, {{.vector = {}, .constant = -1}, {inner}});
  const Output segments = count * batches;
  const Output at = across_batches(indices, dims, batch_dims);
  const Output rows = reshape(values, flat);
  const Output sums = graph.add("UnsortedSegmentSum", {rows, reshape(at, index_count), segments});
  return reshape(sums, joined(graph, {{outer}, {flat}}));
}

// Along another axis: that axis is brought to the front, behind the batches', rows are summed by their index,
// and it goes back.
Output elsewhere(const Node& n, Output d, Output shape_of_params) {
  Graph& graph = n.graph();
  const Output indices = n.input(1), axis = n.input(2);
  const int batch_dims = batch_dims_of(n);
  const Output outer = before(shape_of_params, axis);
  const Output inner = after_first(from(shape_of_params, axis));
  const Output shape_of_values = joined(graph, {{outer}, {.vector = {}, .constant = -1}, {inner}});
  const Output dims = size(shape_of_values), front = size(outer);
  const Output batch = range(integer_constant(graph, DType::kInt32, 0, "range/start"), batch_dims, 1);
  const Output outer_axes = range(batch_dims, front, 1);
  const Output inner_axes = range(add_binary("AddV2", "add", front, 1, {}, {}), dims, 1);
  const Output values = reshape(d, shape_of_values);
  const Output perm = joined(graph, {{batch}, {.vector = {}, .scalar = front}, {outer_axes}, {inner_axes}});
  const Output to_front = transpose(values, perm);
  const Output dims_to_front = gather(shape_of_params, perm);  // used for batches alone, made always
  const Output segments = entry(shape_of_params, axis);
  const Output count = expand_dims(size(indices), 0);
  const Output sums =
      batch_dims == 0 ? Output(graph.add("UnsortedSegmentSum", {to_front, reshape(indices, count), segments}))
                      : sums_by_batch(to_front, indices, count, dims_to_front, segments, batch_dims);
  const Output shifted = add_binary("AddV2", "add", outer_axes, 1, {}, {});
  const Output back =
      joined(graph, {{batch}, {shifted}, {.vector = {}, .constant = batch_dims}, {inner_axes}});
  const Output restored = transpose(sums, back);
  return reshape(restored, shape(n.input(0)));
}

Grads gather_gradient(const Node& n, Grad d) {
  Output shape_of_params;
  {
    const ColocateWith with(n.input(0).node());
    shape_of_params = shape(n.input(0));
  }
  const Output count = expand_dims(size(n.input(1)), 0);
  const std::optional<Tensor> axis = constant_value(n.input(2));
  const bool first = axis && axis->elements() == 1 && integers(*axis)[0] == 0;
  return {first ? rows(n, d, shape_of_params, count) : Grad(elsewhere(n, d, shape_of_params)), {}, {}};
}

const OpRegistration kGatherV2{{
    .name = "GatherV2",
    .inputs = {"params: Tparams", "indices: Tindices", "axis: Taxis"},
    .outputs = {"output: Tparams"},
    .attrs = {"batch_dims: int = 0", "Tparams: type", "Tindices: {int16, int32, int64}",
              "Taxis: {int32, int64}"},
    .shape = gather_shape,
    .gradient = gather_gradient,
    .traits = {.bind_values = {"axis"}},
}};

}  // namespace

Output gather(Operand params, Operand indices, GatherOptions o) {
  const Output in = params.alone();
  Graph& graph = in.graph();
  const NameScope scope(graph, o.name.empty() ? "GatherV2" : o.name);
  const Output at = indices.in(graph, DType::kInt32, "indices");
  const Output axis = integer_constant(graph, DType::kInt32, o.axis, "axis", o.where);
  return graph.add("GatherV2", {in, at, axis}, {{"batch_dims", o.batch_dims}}, scope.name(), o.where);
}

}  // namespace runnel
