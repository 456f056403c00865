// Specs and builders of slices and borders, and the subscripts of Output and Variable.
#include "ops/array_slice_ops.h"

#include <algorithm>

#include "graph/error.h"
#include "graph/infer.h"
#include "ops/array_join_ops.h"
#include "ops/array_movement_ops.h"
#include "ops/array_shape_ops.h"

namespace runnel {
namespace {

std::string name_or(std::string name, const char* otherwise) {
  return name.empty() ? otherwise : std::move(name);
}

std::optional<std::vector<std::int64_t>> numbers(const ShapeContext& c, std::string_view arg) {
  const std::optional<Tensor> value = c.constant(arg);
  if (!value) return std::nullopt;
  if (value->dtype() != DType::kInt16) return integers(*value);
  const std::span<const std::int16_t> small = value->values<std::int16_t>();
  return std::vector<std::int64_t>(small.begin(), small.end());
}

// --- Slice

Shapes slice_shape(const ShapeContext& c) {
  const Shape in = c.input("input");
  const std::int64_t length =
      c.require_equal(c.input("begin", Rank{1})[0], c.input("size", Rank{1})[0], "begin and size");
  const std::int64_t rank =
      c.require_equal(in.has_rank() ? in.rank() : kUnknown, length, "the rank and the length of begin");
  if (rank < 0) return Shape::unknown();
  Shape out = Shape::unknown_of_rank(static_cast<int>(rank));
  const auto begin = numbers(c, "begin"), size = numbers(c, "size");
  const std::optional<Shape> part = c.input_as_shape("size");
  for (int i = 0; i < rank; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const std::int64_t dim = in.has_rank() ? in[i] : kUnknown;
    if (size && (*size)[at] < -1) c.refuse(cat("size[", i, "] is ", (*size)[at]));
    if (!begin) {
      if (part && part->has_rank()) out.set(i, (*part)[i]);
      continue;
    }
    const std::int64_t from = (*begin)[at];
    const std::int64_t count = size && (*size)[at] == -1  ? (dim < 0 ? kUnknown : dim - from)
                               : part && part->has_rank() ? (*part)[i]
                                                          : kUnknown;
    if (from < 0 || (dim >= 0 && (from > dim || count > dim - from)))
      c.refuse(cat("begin[", i, "] ", from, " with size ", size ? (*size)[at] : count,
                   " is not inside dimension ", i));
    out.set(i, std::max(count, kUnknown));
  }
  return out;
}

bool takes_all(const ShapeContext& c) {
  const Shape in = c.input(0);
  const auto size = numbers(c, "size"), begin = numbers(c, "begin");
  if (!size || !begin || !in.is_known()) return false;
  for (int i = 0; i < in.rank(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    if ((*begin)[at] != 0 || ((*size)[at] != -1 && (*size)[at] != in[i])) return false;
  }
  return true;
}

// The gradient with zeros around it: begin before, and what the slice left after.
Grads slice_gradient(const Node& n, Grad d) {
  const Output begin = n.input(1), count = rank(n.input(0));
  const DType type = base_of(begin.dtype());
  const Output size = shape(n.output(0), {.out_type = type});
  const Output column = stack_scalars({count, 1});
  const Output before = reshape(begin, column);
  const Output whole = shape(n.input(0), {.out_type = type});
  const Output rest = add_binary("Sub", "sub", add_binary("Sub", "sub", whole, size, {}, {}), begin, {}, {});
  const Output after = reshape(rest, column);
  return {pad(d.dense(), concat({before, after}, 1)), {}, {}};
}

const OpRegistration kSlice{{
    .name = "Slice",
    .inputs = {"input: T", "begin: Index", "size: Index"},
    .outputs = {"output: T"},
    .attrs = {"T: type", "Index: {int32, int64}"},
    .shape = slice_shape,
    .gradient = slice_gradient,
    .traits = {.bind_values = {"begin", "size"}, .view = takes_all},
}};

// --- StridedSlice

SliceMasks masks_of(const Node& n) {
  return {n.integer("begin_mask"), n.integer("end_mask"), n.integer("ellipsis_mask"),
          n.integer("new_axis_mask"), n.integer("shrink_axis_mask")};
}
Attrs mask_attrs(const SliceMasks& masks) {
  return {{"begin_mask", masks.begin},
          {"end_mask", masks.end},
          {"ellipsis_mask", masks.ellipsis},
          {"new_axis_mask", masks.new_axis},
          {"shrink_axis_mask", masks.shrink_axis}};
}

// The slice of a tensor of shape `of`; none if too little is known.
std::optional<Slicing> slicing(const ShapeContext& c, const Shape& of) {
  std::int64_t positions = kUnknown;
  for (const char* arg : {"begin", "end", "strides"})
    positions = c.require_equal(positions, c.input(arg, Rank{1})[0], "the lengths of begin, end and strides");
  if (!of.has_rank() || positions < 0) return std::nullopt;
  if (positions > 32) c.refuse(cat("a slice has ", positions, " positions; the masks hold 32"));
  try {
    return resolve_slice(of, {.positions = static_cast<int>(positions),
                              .begin = numbers(c, "begin"),
                              .end = numbers(c, "end"),
                              .strides = numbers(c, "strides"),
                              .masks = masks_of(c.node())});
  } catch (const Error& e) {
    c.refuse(e.message());
  }
}

Shapes strided_slice_shape(const ShapeContext& c) {
  const std::optional<Slicing> taken = slicing(c, c.input("input"));
  return taken ? taken->shape : Shape::unknown();
}

// True if every element is taken, in order.
bool takes_all_in_order(const ShapeContext& c) {
  const Shape in = c.input("input");
  const std::optional<Slicing> taken = slicing(c, in);
  if (!taken) return false;
  for (int i = 0; i < in.rank(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (taken->count[at] != in[i] || (in[i] > 1 && taken->stride[at] != 1)) return false;
  }
  return true;
}

// A range of a shape is a shape.
std::optional<Shape> strided_slice_as_shape(const ShapeContext& c) {
  const std::optional<Shape> in = c.input(0).rank() == 1 ? c.input_as_shape(0) : std::nullopt;
  if (!in || !in->has_rank()) return std::nullopt;
  const std::optional<Slicing> taken = slicing(c, Shape{in->rank()});
  if (!taken || taken->shape.rank() != 1 || taken->count[0] < 0 || taken->shape[0] != taken->count[0])
    return std::nullopt;
  Shape out;
  for (std::int64_t i = 0; i < taken->count[0]; ++i)
    out.push_back((*in)[static_cast<int>(taken->begin[0] + i * taken->stride[0])]);
  return out;
}

// A Const again where the value is known, as TensorFlow writes it.
Output written_out(Output tensor, std::string_view name) {
  const std::optional<Tensor> value = constant_value(tensor);
  return value ? constant(tensor.graph(), *value, {.name = std::string(name), .where = {}}) : tensor;
}

Grads strided_slice_gradient(const Node& n, Grad d) {
  Graph& graph = n.graph();
  const Output in = shape(n.input(0), {.out_type = base_of(n.input(1).dtype())});
  const NameScope scope(graph, "StridedSliceGrad");
  const Output whole = written_out(in, "shape"), begin = written_out(n.input(1), "begin");
  const Output end = written_out(n.input(2), "end"), strides = written_out(n.input(3), "strides");
  return {graph.add("StridedSliceGrad", {whole, begin, end, strides, d.dense()}, mask_attrs(masks_of(n)),
                    scope.name()),
          {},
          {},
          {}};
}

const OpRegistration kStridedSlice{{
    .name = "StridedSlice",
    .inputs = {"input: T", "begin: Index", "end: Index", "strides: Index"},
    .outputs = {"output: T"},
    .attrs = {"T: type", "Index: {int16, int32, int64}", "begin_mask: int = 0", "end_mask: int = 0",
              "ellipsis_mask: int = 0", "new_axis_mask: int = 0", "shrink_axis_mask: int = 0"},
    .shape = strided_slice_shape,
    .gradient = strided_slice_gradient,
    .traits = {.bind_values = {"begin", "end", "strides"}, .view = takes_all_in_order},
    .as_shape = strided_slice_as_shape,
}};

Shapes strided_slice_grad_shape(const ShapeContext& c) {
  c.input("shape", Rank{1});
  const std::optional<Shape> whole = c.input_as_shape("shape");
  if (!whole) return Shape::unknown();
  const std::optional<Slicing> taken = slicing(c, *whole);
  if (taken && !taken->shape.compatible_with(c.input("dy")))
    c.refuse(cat("dy does not have the shape ", taken->shape, " of the slice"));
  return *whole;
}

const OpRegistration kStridedSliceGrad{{
    .name = "StridedSliceGrad",
    .inputs = {"shape: Index", "begin: Index", "end: Index", "strides: Index", "dy: T"},
    .outputs = {"output: T"},
    .attrs = {"T: type", "Index: {int32, int64}", "begin_mask: int = 0", "end_mask: int = 0",
              "ellipsis_mask: int = 0", "new_axis_mask: int = 0", "shrink_axis_mask: int = 0"},
    .shape = strided_slice_grad_shape,
    .gradient = [](const Node& n, Grad d) -> Grads {
      return {{},
              {},
              {},
              {},
              strided_slice(d.dense(), n.input(1), n.input(2), n.input(3), {.masks = masks_of(n)})};
    },
    .traits = {.bind_values = {"shape", "begin", "end", "strides"}},
}};

// --- Pad

Shapes pad_shape(const ShapeContext& c) {
  const Shape in = c.input("input"), pairs = c.input("paddings", Rank{2});
  if (pairs[1] >= 0 && pairs[1] != 2) c.refuse("paddings does not have two columns");
  const std::int64_t rank =
      c.require_equal(in.has_rank() ? in.rank() : kUnknown, pairs[0], "the rank and the rows of paddings");
  if (rank < 0) return Shape::unknown();
  Shape out = Shape::unknown_of_rank(static_cast<int>(rank));
  const auto amounts = numbers(c, "paddings");
  if (!amounts) return out;
  for (int i = 0; i < rank; ++i) {
    const std::int64_t before = (*amounts)[static_cast<std::size_t>(2 * i)],
                       after = (*amounts)[static_cast<std::size_t>(2 * i + 1)];
    if (before < 0 || after < 0)
      c.refuse(cat("paddings of dimension ", i, " are ", before, " and ", after, ", but must be >= 0"));
    std::int64_t dim = in.has_rank() ? in[i] : kUnknown;
    if (dim < 0) continue;
    if (__builtin_add_overflow(dim, before, &dim) || __builtin_add_overflow(dim, after, &dim))
      c.refuse("the result has too many elements");
    out.set(i, dim);
  }
  return out;
}

bool pads_nothing(const ShapeContext& c) {
  const auto amounts = numbers(c, "paddings");
  return amounts && std::ranges::all_of(*amounts, [](std::int64_t amount) { return amount == 0; });
}

// What lies inside the border.
Output unpadded(const Node& n, Grad d) {
  const Output in = n.input(0), paddings = n.input(1);
  const Output column = stack_scalars({rank(in), 1});
  const Output before = slice(paddings, {0, 0}, column);
  const Output begin = reshape(before, {-1});
  return slice(d.dense(), begin, shape(in, {.out_type = base_of(paddings.dtype())}));
}

const OpRegistration kPad{{
    .name = "Pad",
    .inputs = {"input: T", "paddings: Tpaddings"},
    .outputs = {"output: T"},
    .attrs = {"T: type", "Tpaddings: {int32, int64} = DT_INT32"},
    .shape = pad_shape,
    .gradient = [](const Node& n, Grad d) -> Grads {
      return {unpadded(n, d), {}};
    },
    .traits = {.bind_values = {"paddings"}, .view = pads_nothing},
}};

const OpRegistration kPadV2{{
    .name = "PadV2",
    .inputs = {"input: T", "paddings: Tpaddings", "constant_values: T"},
    .outputs = {"output: T"},
    .attrs = {"T: type", "Tpaddings: {int32, int64} = DT_INT32"},
    .shape = [](const ShapeContext& c) -> Shapes {
      c.input("constant_values", Rank{0});
      return pad_shape(c);
    },
    .gradient = [](const Node& n, Grad d) -> Grads {
      return {unpadded(n, d), {}, {}};
    },
    .traits = {.bind_values = {"paddings"}, .view = pads_nothing},
}};

}  // namespace

Output slice(Operand x, const Integers& begin, const Integers& size, OpOptions o) {
  const Output in = x.alone();
  Graph& graph = in.graph();
  const NameScope scope(graph, name_or(std::move(o.name), "Slice"));
  const Output from = begin.in(graph, "begin", o.where);
  return graph.add("Slice", {in, from, size.in(graph, "size", o.where)}, {}, scope.name(), o.where);
}

Output strided_slice(Operand x, const Integers& begin, const Integers& end, const Integers& strides,
                     StridedSliceOptions o) {
  const Output in = x.alone();
  Graph& graph = in.graph();
  const NameScope scope(graph, name_or(std::move(o.name), "StridedSlice"));
  const Output from = begin.in(graph, "begin", o.where), to = end.in(graph, "end", o.where);
  const Output step = strides.in(graph, "strides", o.where);
  return graph.add("StridedSlice", {in, from, to, step}, mask_attrs(o.masks), scope.name(), o.where);
}

Output subvector(Output vector, std::optional<int> begin, std::optional<int> end, Location where) {
  Graph& graph = vector.graph();
  const NameScope scope(graph, "strided_slice");
  const Output from = Integers({begin.value_or(0)}).in(graph, "stack", where);
  const Output to = Integers({end.value_or(0)}).in(graph, "stack_1", where);
  const Output step = Integers({1}).in(graph, "stack_2", where);
  return graph.add("StridedSlice", {vector, from, to, step},
                   {{"begin_mask", begin ? 0 : 1}, {"end_mask", end ? 0 : 1}}, scope.name(), where);
}

Output pad(Operand x, Operand paddings, OpOptions o) {
  const Output in = x.alone();
  const NameScope scope(in.graph(), name_or(std::move(o.name), "Pad"));
  const Output amounts = paddings.in(in.graph(), DType::kInt32, "paddings");
  return in.graph().add("Pad", {in, amounts}, {}, scope.name(), o.where);
}

Output Output::operator[](Index index) const {
  const NameScope scope(graph(), "strided_slice");
  const std::int64_t at = index.value;
  const Output begin = Integers({at}).in(graph(), "stack", index.where);
  const Output end = Integers({at + 1}).in(graph(), "stack_1", index.where);
  const Output step = Integers({1}).in(graph(), "stack_2", index.where);
  return graph().add("StridedSlice", {*this, begin, end, step}, {{"shrink_axis_mask", 1}}, scope.name(),
                     index.where);
}

Output Variable::operator[](Index index) const { return Operand(*this, index.where).alone()[index]; }

}  // namespace runnel
