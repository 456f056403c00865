// Specs and builders of what reshapes, permutes and repeats.
#include "ops/array_movement_ops.h"

#include <algorithm>
#include <numeric>

#include "graph/error.h"
#include "graph/infer.h"
#include "ops/array_join_ops.h"
#include "ops/array_shape_ops.h"

namespace runnel {
namespace {

std::string name_or(std::string name, const char* otherwise) {
  return name.empty() ? otherwise : std::move(name);
}

// --- Reshape

// A hostile graph may name dimensions whose product is far over 64 bits.
std::int64_t product(const ShapeContext& c, const Shape& shape) {
  std::int64_t out = 1;
  for (const std::int64_t dim : shape.dims())
    if (dim > 0 && __builtin_mul_overflow(out, dim, &out))
      c.refuse(cat("shape ", shape, " has too many elements"));
  return out;
}

bool has_zero(const Shape& shape) { return std::ranges::count(shape.dims(), 0) > 0; }

// `shape` with its one unknown dimension told by the elements of `from`, all known. A zero leaves the rest to
// be matched, as in TensorFlow.
Shape completed(const ShapeContext& c, const Shape& from, Shape shape) {
  const auto unknown = std::ranges::find(shape.dims(), kUnknown) - shape.dims().begin();
  const bool empty = has_zero(shape);
  const std::int64_t have = has_zero(from) && !empty ? 0 : product(c, from), rest = product(c, shape);
  if (have % rest != 0 || (empty && !has_zero(from)))
    c.refuse(cat("the elements do not fill shape ", shape, " whatever its unknown dimension is"));
  shape.set(static_cast<int>(unknown), have / rest);
  return shape;
}

Shapes reshape_shape(const ShapeContext& c) {
  const Shape from = c.input("tensor");
  const std::optional<Shape> wanted = c.input_as_shape("shape");
  const std::optional<Tensor> value = c.constant("shape");
  if (value)
    for (const std::int64_t dim : integers(*value))
      if (dim < -1) c.refuse(cat("shape holds a dimension of ", dim));
  if (!wanted) return Shape::unknown();
  const auto unknowns = std::ranges::count(wanted->dims(), kUnknown);
  if (value && unknowns > 1)
    c.refuse(cat("shape ", *wanted, " has ", unknowns, " dimensions of -1; only one can be told"));
  if (!from.is_known() || unknowns > 1) return *wanted;
  if (unknowns == 1) return completed(c, from, *wanted);
  if (has_zero(from) != has_zero(*wanted) || (!has_zero(from) && product(c, from) != product(c, *wanted)))
    c.refuse(cat("shape ", *wanted, " has another number of elements"));
  return *wanted;
}

// The gradient under the shape that the input has.
Output as_input(const Node& n, Grad d) { return reshape(d.dense(), shape(n.input(0))); }

// TensorFlow writes the shape out where one dimension is unknown.
Grads reshape_gradient(const Node& n, Grad d) {
  const Shape& in = n.input(0).shape();
  const bool one_unknown = in.has_rank() && std::ranges::count(in.dims(), kUnknown) == 1 && !has_zero(in);
  return {one_unknown ? reshape(d.dense(), in) : as_input(n, d), {}};
}

const OpRegistration kReshape{{
    .name = "Reshape",
    .inputs = {"tensor: T", "shape: Tshape"},
    .outputs = {"output: T"},
    .attrs = {"T: type", "Tshape: {int32, int64} = DT_INT32"},
    .shape = reshape_shape,
    .gradient = reshape_gradient,
    .traits = {.bind_values = {"shape"}, .view = always_view},
}};

// --- ExpandDims, Squeeze

const OpRegistration kExpandDims{{
    .name = "ExpandDims",
    .inputs = {"input: T", "dim: Tdim"},
    .outputs = {"output: T"},
    .attrs = {"T: type", "Tdim: {int32, int64} = DT_INT32"},
    .shape = [](const ShapeContext& c) -> Shapes {
      const Shape in = c.input("input");
      const std::optional<Tensor> value = c.constant("dim");
      if (value && value->elements() != 1) c.refuse(cat("dim has ", value->elements(), " elements, not 1"));
      if (!in.has_rank()) return Shape::unknown();
      if (!value) return Shape::unknown_of_rank(in.rank() + 1);
      const std::int64_t dim = integers(*value)[0], at = dim < 0 ? dim + in.rank() + 1 : dim;
      if (at < 0 || at > in.rank())
        c.refuse(cat("dim ", dim, " is not in [", -in.rank() - 1, ", ", in.rank(), "]"));
      std::vector<std::int64_t> dims(in.dims().begin(), in.dims().end());
      dims.insert(dims.begin() + at, 1);
      return Shape(dims);
    },
    .gradient = [](const Node& n, Grad d) -> Grads {
      return {as_input(n, d), {}};
    },
    .traits = {.bind_values = {"dim"}, .view = always_view},
}};

Shapes squeeze_shape(const ShapeContext& c) {
  const Shape in = c.input(0);
  if (!in.has_rank()) return Shape::unknown();
  const std::vector<std::int64_t>& axes = c.node().integers("squeeze_dims");
  std::vector<bool> dropped(static_cast<std::size_t>(in.rank()), false);
  for (const std::int64_t axis : axes) {
    const std::int64_t at = axis < 0 ? axis + in.rank() : axis;
    if (at < 0 || at >= in.rank())
      c.refuse(cat("axis ", axis, " is not in [", -in.rank(), ", ", in.rank(), ")"));
    if (in[static_cast<int>(at)] > 1 || in[static_cast<int>(at)] == 0)
      c.refuse(cat("dimension ", at, " is ", in[static_cast<int>(at)], ", and only a 1 can be squeezed out"));
    dropped[static_cast<std::size_t>(at)] = true;
  }
  if (axes.empty() && !in.is_known()) return Shape::unknown();
  Shape out;
  for (int i = 0; i < in.rank(); ++i)
    if (axes.empty() ? in[i] != 1 : !dropped[static_cast<std::size_t>(i)]) out.push_back(in[i]);
  return out;
}

const OpRegistration kSqueeze{{
    .name = "Squeeze",
    .inputs = {"input: T"},
    .outputs = {"output: T"},
    .attrs = {"T: type", "squeeze_dims: list(int) >= 0 = []"},
    .shape = squeeze_shape,
    .gradient = [](const Node& n, Grad d) -> Grads { return {as_input(n, d)}; },
    .traits = {.view = always_view},
}};

// --- Transpose

// The permutation with negative entries counted from the end.
std::optional<std::vector<int>> permutation(const ShapeContext& c, int rank) {
  const std::optional<Tensor> value = c.constant("perm");
  if (!value) return std::nullopt;
  std::vector<int> perm;
  std::vector<bool> seen(static_cast<std::size_t>(rank), false);
  for (const std::int64_t entry : integers(*value)) {
    const std::int64_t at = entry < 0 ? entry + rank : entry;
    if (at < 0 || at >= rank || seen[static_cast<std::size_t>(at)])
      c.refuse(cat("perm ", value->text(), " is no permutation of ", rank, " dimensions"));
    seen[static_cast<std::size_t>(at)] = true;
    perm.push_back(static_cast<int>(at));
  }
  if (static_cast<int>(perm.size()) != rank)
    c.refuse(cat("perm ", value->text(), " is for another rank than ", rank));
  return perm;
}

// The rank as the tensor or else the permutation tells it; -1 if neither does.
int transposed_rank(const ShapeContext& c) {
  const Shape x = c.input("x"), perm = c.input("perm", Rank{1});
  return x.has_rank() ? x.rank() : static_cast<int>(std::min<std::int64_t>(perm[0], INT32_MAX));
}

Shapes transpose_shape(const ShapeContext& c) {
  const int rank = transposed_rank(c);
  if (rank < 0) return Shape::unknown();
  const Shape x = c.input("x");
  Shape out = Shape::unknown_of_rank(rank);
  if (const auto perm = permutation(c, rank); perm && x.has_rank())
    for (int i = 0; i < rank; ++i) out.set(i, x[(*perm)[static_cast<std::size_t>(i)]]);
  return out;
}

// Nothing moves when the dimensions that are not 1 keep their order.
bool moves_nothing(const ShapeContext& c) {
  const Shape x = c.input("x");
  const auto perm = permutation(c, x.rank());
  if (!perm) return false;
  int last = -1;
  for (const int at : *perm) {
    if (x[at] == 1) continue;
    if (at < last) return false;
    last = at;
  }
  return true;
}

const OpRegistration kTranspose{{
    .name = "Transpose",
    .inputs = {"x: T", "perm: Tperm"},
    .outputs = {"y: T"},
    .attrs = {"T: type", "Tperm: {int32, int64} = DT_INT32"},
    .shape = transpose_shape,
    .gradient = [](const Node& n, Grad d) -> Grads {
      return {transpose(d.dense(), invert_permutation(n.input(1))), {}};
    },
    .traits = {.bind_values = {"perm"}, .view = moves_nothing},
}};

const OpRegistration kInvertPermutation{{
    .name = "InvertPermutation",
    .inputs = {"x: T"},
    .outputs = {"y: T"},
    .attrs = {"T: {int32, int64} = DT_INT32"},
    .shape = [](const ShapeContext& c) -> Shapes { return c.input("x", Rank{1}); },
    .gradient = Gradient::none("it computes positions"),
}};

// --- Tile, BroadcastTo

Shapes tile_shape(const ShapeContext& c) {
  const Shape in = c.input("input"), count = c.input("multiples", Rank{1});
  const std::int64_t rank =
      c.require_equal(in.has_rank() ? in.rank() : kUnknown, count[0], "the number of multiples and the rank");
  if (rank < 0) return Shape::unknown();
  const std::optional<Tensor> value = c.constant("multiples");
  if (!value || !in.has_rank()) return Shape::unknown_of_rank(static_cast<int>(rank));
  Shape out = in;
  const std::vector<std::int64_t> multiples = integers(*value);
  for (int i = 0; i < in.rank(); ++i) {
    const std::int64_t times = multiples[static_cast<std::size_t>(i)];
    std::int64_t dim = times == 0 ? 0 : kUnknown;
    if (times < 0) c.refuse(cat("multiples[", i, "] is ", times));
    if (in[i] >= 0 && __builtin_mul_overflow(in[i], times, &dim))
      c.refuse("the result has too many elements");
    out.set(i, dim);
  }
  return out;
}

// True if the result has the elements of the input, no more and no fewer.
bool repeats_nothing(const ShapeContext& c) {
  const std::optional<Tensor> value = c.constant(1);
  return value && c.input(0).is_known() &&
         std::ranges::all_of(integers(*value), [](std::int64_t times) { return times == 1; });
}

// y is x repeated m[i] times along each dimension i: as a tensor of [m[0], x[0], m[1], x[1], ...] its
// gradient is summed over the even axes.
Grads tile_gradient(const Node& n, Grad d) {
  const Output in = shape(n.input(0), {.out_type = base_of(n.input(1).dtype())});
  const Output pairs = transpose(stack({n.input(1), in}), {.perm = {1, 0}});
  const Output split = reshape(pairs, {-1});
  const Output axes = range(0, size(split), 2);
  return {n.graph().add("Sum", {reshape(d.dense(), split), axes}, {{"keep_dims", false}}), {}};
}

const OpRegistration kTile{{
    .name = "Tile",
    .inputs = {"input: T", "multiples: Tmultiples"},
    .outputs = {"output: T"},
    .attrs = {"T: type", "Tmultiples: {int32, int64} = DT_INT32"},
    .shape = tile_shape,
    .gradient = tile_gradient,
    .traits = {.bind_values = {"multiples"}, .view = repeats_nothing},
}};

Shapes broadcast_to_shape(const ShapeContext& c) {
  c.input("shape", Rank{1});
  const Shape in = c.input("input");
  if (const std::optional<Tensor> value = c.constant("shape"))
    for (const std::int64_t dim : integers(*value))
      if (dim < 0) c.refuse(cat("shape holds a dimension of ", dim));
  const std::optional<Shape> out = c.input_as_shape("shape");
  if (!out || !in.has_rank()) return out.value_or(Shape::unknown());
  if (in.rank() > out->rank()) c.refuse(cat("shape ", *out, " has fewer dimensions than the input"));
  for (int i = 0; i < in.rank(); ++i) {
    const std::int64_t from = in[i], to = (*out)[out->rank() - in.rank() + i];
    if (from >= 0 && to >= 0 && from != 1 && from != to)
      c.refuse(cat("the input does not stretch to ", *out));
  }
  return *out;
}

// The gradient is summed over the dimensions that were stretched.
Grads broadcast_to_gradient(const Node& n, Grad d) {
  const DType type = base_of(n.input(1).dtype());
  const Output in = shape(n.input(0), {.out_type = type});
  const std::optional<Tensor> known = constant_value(n.input(1));
  const Output out = known ? Integers(integers(*known)).in(n.graph(), "Const", {}, type) : n.input(1);
  const Output axes(n.graph().add("BroadcastGradientArgs", {out, in}), 1);
  return {reshape(n.graph().add("Sum", {d.dense(), axes}, {{"keep_dims", true}}), in), {}};
}

const OpRegistration kBroadcastTo{{
    .name = "BroadcastTo",
    .inputs = {"input: T", "shape: Tidx"},
    .outputs = {"output: T"},
    .attrs = {"T: type", "Tidx: {int32, int64} = DT_INT32"},
    .shape = broadcast_to_shape,
    .gradient = broadcast_to_gradient,
    .traits = {.bind_values = {"shape"},
               .view =
                   [](const ShapeContext& c) {
                     const std::optional<Shape> out = c.input_as_shape("shape");
                     return out && out->is_known() && c.input(0).is_known() &&
                            out->elements() == c.input(0).elements();
                   }},
}};

}  // namespace

Output reshape(Operand x, const Integers& shape, OpOptions o) {
  const Output in = x.alone();
  const NameScope scope(in.graph(), name_or(std::move(o.name), "Reshape"));
  return in.graph().add("Reshape", {in, shape.in(in.graph(), "shape", o.where)}, {}, scope.name(), o.where);
}

Output expand_dims(Operand x, int axis, OpOptions o) {
  const Output in = x.alone();
  const NameScope scope(in.graph(), name_or(std::move(o.name), "ExpandDims"));
  const Output dim = integer_constant(in.graph(), DType::kInt32, axis, "dim", o.where);
  return in.graph().add("ExpandDims", {in, dim}, {}, scope.name(), o.where);
}

Output squeeze(Operand x, SqueezeOptions o) {
  const Output in = x.alone();
  return in.graph().add("Squeeze", {in}, {{"squeeze_dims", std::move(o.axes)}}, o.name, o.where);
}

Output transpose(Operand x, TransposeOptions o) {
  const Output in = x.alone();
  Graph& graph = in.graph();
  const NameScope scope(graph, name_or(std::move(o.name), "transpose"));
  Output perm;
  if (!o.perm.empty() || in.shape().has_rank()) {
    if (o.perm.empty())
      for (int i = in.shape().rank(); i-- > 0;) o.perm.push_back(i);
    perm = Integers(o.perm).in(graph, "perm", o.where);
  } else {
    const Output last = add_binary("Sub", "sub", rank(in), 1, {}, o.where);
    perm = range(last, -1, -1, {.name = "Range", .where = o.where});
  }
  return graph.add("Transpose", {in, perm}, {}, scope.name(), o.where);
}

Output transpose(Operand x, Output perm, OpOptions o) {
  const Output in = x.alone();
  return in.graph().add("Transpose", {in, perm}, {}, name_or(std::move(o.name), "transpose"), o.where);
}

Output invert_permutation(Output x, OpOptions o) {
  return x.graph().add("InvertPermutation", {x}, {}, o.name, o.where);
}

Output tile(Operand x, const Integers& multiples, OpOptions o) {
  const Output in = x.alone();
  const NameScope scope(in.graph(), name_or(std::move(o.name), "Tile"));
  return in.graph().add("Tile", {in, multiples.in(in.graph(), "multiples", o.where)}, {}, scope.name(),
                        o.where);
}

Output broadcast_to(Operand x, const Integers& shape, OpOptions o) {
  const Output in = x.alone();
  const NameScope scope(in.graph(), name_or(std::move(o.name), "BroadcastTo"));
  return in.graph().add("BroadcastTo", {in, shape.in(in.graph(), "shape", o.where)}, {}, scope.name(),
                        o.where);
}

}  // namespace runnel
