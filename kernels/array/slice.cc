// Slice and StridedSlice read a regular pattern; StridedSliceGrad, Pad and PadV2 write one into a cleared or
// filled tensor.
#include "graph/slicing.h"
#include "kernels/array/strided_copy.h"

namespace runnel {
namespace {

std::vector<std::int64_t> numbers(const Tensor& value) {
  if (value.dtype() != DType::kInt16) return integers(value);
  const std::span<const std::int16_t> small = value.values<std::int16_t>();
  return {small.begin(), small.end()};
}

const KernelRegistration kSlice{"Slice", any, [](Bind& b) {
                                  const Shape& out = b.output("output").shape;
                                  const std::vector<std::int64_t> from = strides_of(b.input("input").shape),
                                                                  to = strides_of(out);
                                  const std::vector<std::int64_t> begin = integers(b.value("begin"));
                                  std::vector<Walk> walks;
                                  std::int64_t start = 0;
                                  for (std::size_t i = 0; i < from.size(); ++i) {
                                    start += begin[i] * from[i];
                                    walks.push_back({out[static_cast<int>(i)], from[i], to[i]});
                                  }
                                  bind_copy(b, "input", "output", {b.input("input").dtype, walks, start});
                                }};

// The ranges that a slice takes of a tensor of this shape: where they start, and their walks with the slice's
// side dense and in `to`.
struct Pattern {
  std::int64_t start = 0;
  std::vector<Walk> walks;
};
Pattern pattern(const Bind& b, const Shape& of) {
  const Slicing taken =
      resolve_slice(of, {.positions = static_cast<int>(b.value("begin").elements()),
                         .begin = numbers(b.value("begin")),
                         .end = numbers(b.value("end")),
                         .strides = numbers(b.value("strides")),
                         .masks = {b.integer("begin_mask"), b.integer("end_mask"), b.integer("ellipsis_mask"),
                                   b.integer("new_axis_mask"), b.integer("shrink_axis_mask")}});
  const std::vector<std::int64_t> steps = strides_of(of), dense = strides_of(Shape(taken.count));
  Pattern out;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (taken.count[i] == 0) return {0, {{0, 0, 0}}};
    out.start += taken.begin[i] * steps[i];
    // A single element may have any stride, too large a one among them.
    out.walks.push_back({taken.count[i], taken.count[i] == 1 ? 0 : taken.stride[i] * steps[i], dense[i]});
  }
  return out;
}

const KernelRegistration kStridedSlice{
    "StridedSlice", any, [](Bind& b) {
      const Pattern taken = pattern(b, b.input("input").shape);
      bind_copy(b, "input", "output", {b.input("input").dtype, taken.walks, taken.start});
    }};

// Copies into part of an output of which all other elements are cleared.
void bind_into_cleared(Bind& b, std::string_view in, const StridedCopy& copy) {
  const DType type = b.output("output").dtype;
  const std::int64_t n = b.output("output").shape.elements();
  b.run([type, n, copy, x = b.in<std::byte>(in), y = b.out<std::byte>("output")](Context& c) {
    clear_elements(type, c[y], n);
    copy.run(c, c[x], c[y]);
  });
}

const KernelRegistration kStridedSliceGrad{
    "StridedSliceGrad", any, [](Bind& b) {
      Pattern taken = pattern(b, b.output("output").shape);
      for (Walk& walk : taken.walks) std::swap(walk.from, walk.to);
      bind_into_cleared(b, "dy", {b.input("dy").dtype, taken.walks, 0, taken.start});
    }};

// The input as the inner part of the output.
StridedCopy inside_border(const Bind& b) {
  const Shape& in = b.input("input").shape;
  const std::vector<std::int64_t> from = strides_of(in), to = strides_of(b.output("output").shape);
  const std::vector<std::int64_t> paddings = integers(b.value("paddings"));
  std::vector<Walk> walks;
  std::int64_t start = 0;
  for (std::size_t i = 0; i < from.size(); ++i) {
    start += paddings[2 * i] * to[i];
    walks.push_back({in[static_cast<int>(i)], from[i], to[i]});
  }
  return {b.input("input").dtype, walks, 0, start};
}

const KernelRegistration kPad{"Pad", any, [](Bind& b) { bind_into_cleared(b, "input", inside_border(b)); }};

const KernelRegistration kPadV2{
    "PadV2", any, [](Bind& b) {
      const std::int64_t n = b.output("output").shape.elements();
      const StridedCopy fill(b.input("input").dtype, {{n, 0, 1}}), copy = inside_border(b);
      b.run([fill, copy, x = b.in<std::byte>("input"), v = b.in<std::byte>("constant_values"),
             y = b.out<std::byte>("output")](Context& c) {
        fill.run(c, c[v], c[y]);
        copy.run(c, c[x], c[y]);
      });
    }};

}  // namespace
}  // namespace runnel
