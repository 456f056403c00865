// Specs and builders of what takes tensors apart: Unpack, Split, SplitV.
#include <algorithm>

#include "graph/error.h"
#include "ops/array_join_ops.h"
#include "ops/array_shape_ops.h"
#include "ops/axes.h"

namespace runnel {
namespace {

std::string name_or(std::string name, const char* otherwise) {
  return name.empty() ? otherwise : std::move(name);
}

// A gradient for every output: zeros where none came.
Outputs all_of(const Node& n, std::span<const Grad> grads) {
  Outputs out;
  for (int i = 0; i < n.outputs(); ++i) {
    const Grad& d = grads[static_cast<std::size_t>(i)];
    out.push_back(d ? d.dense() : zeros_like(n.output(i)));
  }
  return out;
}

const OpRegistration kUnpack{{
    .name = "Unpack",
    .inputs = {"value: T"},
    .outputs = {"output: num * T"},
    .attrs = {"num: int >= 0", "T: type", "axis: int = 0"},
    .shape = [](const ShapeContext& c) -> Shapes {
      const Shape in = c.input("value");
      if (!in.has_rank()) return unknown_shapes(c);
      const int at = axis_in(c, c.integer("axis"), in.rank(), "axis");
      if (in[at] >= 0 && in[at] != c.integer("num"))
        c.refuse(cat("dimension ", at, " is not ", c.integer("num"), ", as num says"));
      return std::vector<Shape>(static_cast<std::size_t>(c.node().outputs()), without_dimension(in, at));
    },
    .gradient = [](const Node& n, std::span<const Grad> d) -> Grads {
      return {stack(all_of(n, d), {.axis = static_cast<int>(n.integer("axis"))})};
    },
    .traits = {.view = [](const ShapeContext& c) { return c.integer("num") == 1; }},
}};

const OpRegistration kSplit{{
    .name = "Split",
    .inputs = {"split_dim: int32", "value: T"},
    .outputs = {"output: num_split * T"},
    .attrs = {"num_split: int >= 1", "T: type"},
    .shape = [](const ShapeContext& c) -> Shapes {
      Shape each = c.input("value");
      const std::optional<std::int64_t> axis = single_integer(c, "split_dim");
      if (!each.has_rank()) return unknown_shapes(c);
      if (!axis)
        return std::vector(static_cast<std::size_t>(c.node().outputs()), Shape::unknown_of_rank(each.rank()));
      const int at = axis_in(c, *axis, each.rank(), "split_dim");
      const std::int64_t parts = c.integer("num_split");
      if (each[at] >= 0 && each[at] % parts != 0)
        c.refuse(cat("dimension ", at, " does not split into ", parts, " equal parts"));
      each.set(at, each[at] < 0 ? kUnknown : each[at] / parts);
      return std::vector<Shape>(static_cast<std::size_t>(c.node().outputs()), each);
    },
    .gradient = [](const Node& n, std::span<const Grad> d) -> Grads {
      return {{}, concat(all_of(n, d), n.input(0))};
    },
    .traits = {.bind_values = {"split_dim"}},
}};

// The sizes with a -1 replaced by what is left of `whole`.
std::vector<std::int64_t> part_sizes(const ShapeContext& c, std::vector<std::int64_t> sizes,
                                     std::int64_t whole) {
  std::int64_t sum = 0, *open = nullptr;
  for (std::int64_t& size : sizes) {
    if (size < -1 || (size == -1 && open))
      c.refuse(cat("size_splits holds ", size == -1 ? "two sizes of -1" : cat(size)));
    if (size == -1) open = &size;
    if (size > 0 && __builtin_add_overflow(sum, size, &sum)) c.refuse("the sizes are too large");
  }
  if (whole < 0) return sizes;
  if (open && sum <= whole) *open = whole - sum;
  if (open ? sum > whole : sum != whole)
    c.refuse(cat("the sizes sum to ", sum, ", but the dimension is ", whole));
  return sizes;
}

Shapes split_v_shape(const ShapeContext& c) {
  const Shape in = c.input("value");
  const std::int64_t parts = c.integer("num_split");
  c.require_equal(c.input("size_splits", Rank{1})[0], parts, "the number of sizes and num_split");
  const std::optional<std::int64_t> axis = single_integer(c, "split_dim");
  if (!in.has_rank()) return unknown_shapes(c);
  std::vector<Shape> out(static_cast<std::size_t>(parts), axis ? in : Shape::unknown_of_rank(in.rank()));
  if (!axis) return out;
  const int at = axis_in(c, *axis, in.rank(), "split_dim");
  const std::optional<Tensor> sizes = c.constant("size_splits");
  const std::vector<std::int64_t> each = sizes ? part_sizes(c, integers(*sizes), in[at])
                                               : std::vector(static_cast<std::size_t>(parts), kUnknown);
  for (std::size_t i = 0; i < out.size(); ++i) out[i].set(at, each[i]);
  return out;
}

const OpRegistration kSplitV{{
    .name = "SplitV",
    .inputs = {"value: T", "size_splits: Tlen", "split_dim: int32"},
    .outputs = {"output: num_split * T"},
    .attrs = {"num_split: int >= 1", "T: type", "Tlen: {int8, int32, int64} = DT_INT64"},
    .shape = split_v_shape,
    .gradient = [](const Node& n, std::span<const Grad> d) -> Grads {
      return {concat(all_of(n, d), n.input("split_dim")), {}, {}};
    },
    .traits = {.bind_values = {"size_splits", "split_dim"}},
}};

}  // namespace

Outputs unstack(Operand x, StackOptions o) {
  const Output in = x.alone();
  const Shape& shape = in.shape();
  const int at = o.axis < 0 ? o.axis + shape.rank() : o.axis;
  if (!shape.has_rank() || at < 0 || at >= shape.rank() || shape[at] < 0)
    throw InvalidArgument(
        cat("unstack: dimension ", o.axis, " of ", in.name(), ", which has shape ", shape, ", is not known"),
        o.where);
  const Attrs attrs{{"num", shape[at]}, {"axis", o.axis}};
  return outputs_of(in.graph().add("Unpack", {in}, attrs, name_or(std::move(o.name), "unstack"), o.where));
}

Outputs split(Operand x, int parts, int axis, OpOptions o) {
  const Output in = x.alone();
  const NameScope scope(in.graph(), name_or(std::move(o.name), "split"));
  const Output at = integer_constant(in.graph(), DType::kInt32, axis, "split_dim", o.where);
  return outputs_of(in.graph().add("Split", {at, in}, {{"num_split", parts}}, scope.name(), o.where));
}

Outputs split_by(Operand x, const std::vector<std::int64_t>& sizes, int axis, OpOptions o) {
  const Output in = x.alone();
  const Output lengths = Integers(sizes).in(in.graph(), "Const", o.where);
  const NameScope scope(in.graph(), name_or(std::move(o.name), "split"));
  const Output at = integer_constant(in.graph(), DType::kInt32, axis, "split_dim", o.where);
  return outputs_of(
      in.graph().add("SplitV", {in, lengths, at}, {{"num_split", sizes.size()}}, scope.name(), o.where));
}

}  // namespace runnel
