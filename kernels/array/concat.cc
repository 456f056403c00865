// Putting tensors together and taking them apart: for each part one copy between it and its range of the
// whole.
#include "graph/error.h"
#include "kernels/array/strided_copy.h"

namespace runnel {
namespace {

int dimension(std::int64_t axis, int rank) { return static_cast<int>(axis < 0 ? axis + rank : axis); }

// The whole as [outer, along the axis, inner], whichever dimensions that are.
struct Whole {
  std::int64_t outer = 1, inner = 1, row = 1;  // row: elements from one outer index to the next
};
Whole whole(const Shape& shape, int axis) {
  Whole out;
  for (int i = 0; i < axis; ++i) out.outer *= shape[i];
  for (int i = axis + 1; i < shape.rank(); ++i) out.inner *= shape[i];
  out.row = out.inner * shape[axis];
  return out;
}

template <class Slot>
struct Part {
  Slot slot;
  StridedCopy copy;
};

// All values, each at its offset along the axis; a packed value counts as one.
void bind_join(Bind& b, std::string_view out, int axis, bool packed) {
  const Whole all = whole(b.output(out).shape, axis);
  std::vector<Part<In<std::byte>>> parts;
  std::int64_t at = 0;
  for (int k = 0; k < b.count("values"); ++k) {
    const TensorInfo& value = b.input("values", k);
    const std::int64_t length = (packed ? 1 : value.shape[axis]) * all.inner;
    parts.push_back(
        {b.in<std::byte>("values", k), {value.dtype, {{all.outer, length, all.row}, {length, 1, 1}}, 0, at}});
    at += length;
  }
  b.run([parts, y = b.out<std::byte>(out)](Context& c) {
    for (const auto& part : parts) part.copy.run(c, c[part.slot], c[y]);
  });
}

const KernelRegistration kConcatV2{"ConcatV2", any, [](Bind& b) {
                                     const int rank = b.output("output").shape.rank();
                                     bind_join(b, "output", dimension(integers(b.value("axis"))[0], rank),
                                               false);
                                   }};

const KernelRegistration kPack{
    "Pack", any, [](Bind& b) {
      bind_join(b, "output", dimension(b.integer("axis"), b.output("output").shape.rank()), true);
    }};

// The wanted outputs, each from its offset along the axis.
void bind_parts(Bind& b, std::string_view in, int axis, bool packed) {
  const Whole all = whole(b.input(in).shape, axis);
  const int count = b.node().outputs();
  std::vector<Part<Out<std::byte>>> parts;
  std::int64_t at = 0;
  for (int k = 0; k < count; ++k) {
    const std::int64_t length = (packed ? 1 : b.output("output", k).shape[axis]) * all.inner;
    if (b.wants("output", k))
      parts.push_back({b.out<std::byte>("output", k),
                       {b.input(in).dtype, {{all.outer, all.row, length}, {length, 1, 1}}, at}});
    at += length;
  }
  b.run([parts, x = b.in<std::byte>(in)](Context& c) {
    for (const auto& part : parts) part.copy.run(c, c[x], c[part.slot]);
  });
}

const KernelRegistration kUnpack{
    "Unpack", any, [](Bind& b) {
      bind_parts(b, "value", dimension(b.integer("axis"), b.input("value").shape.rank()), true);
    }};

void bind_split(Bind& b) {
  bind_parts(b, "value", dimension(integers(b.value("split_dim"))[0], b.input("value").shape.rank()), false);
}
const KernelRegistration kSplit{"Split", any, bind_split};
const KernelRegistration kSplitV{"SplitV", any, bind_split};

// Where each of the shapes' tensors starts in their concatenation: zero but along the axis.
template <class T>
void bind_offsets(Bind& b) {
  const std::int64_t rank = b.input("shape").shape.elements();
  const int axis = dimension(integers(b.value("concat_dim"))[0], static_cast<int>(rank));
  if (axis < 0 || axis >= rank)
    throw InvalidArgument(cat("concat_dim ", axis, " is not a dimension of ", rank));
  std::vector<std::pair<In<T>, Out<T>>> parts;
  for (int k = 0; k < b.count("shape"); ++k) parts.push_back({b.in<T>("shape", k), b.out<T>("offset", k)});
  b.run([rank, axis, parts](Context& c) {
    T at = 0;
    for (const auto& [shape, offset] : parts) {
      for (std::int64_t i = 0; i < rank; ++i) {
        if (i != axis && c[shape][i] != c[parts[0].first][i])
          throw InvalidArgument(
              cat("dimension ", i, " of the shapes differs: ", c[parts[0].first][i], " and ", c[shape][i]));
        c[offset][i] = i == axis ? at : T(0);
      }
      at += c[shape][axis];
    }
  });
}
const KernelRegistration kConcatOffset{"ConcatOffset", on<std::int32_t, std::int64_t>("shape_type"),
                                       []<class T>(Bind& b) { bind_offsets<T>(b); }};

}  // namespace
}  // namespace runnel
