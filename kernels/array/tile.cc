// Tile and BroadcastTo: loops that step by 0 in the source read the same elements again.
#include "kernels/array/strided_copy.h"

namespace runnel {
namespace {

// Dimension i of the result is multiples[i] rounds over dimension i of the input.
const KernelRegistration kTile{"Tile", any, [](Bind& b) {
                                 const Shape& in = b.input("input").shape;
                                 const std::vector<std::int64_t> from = strides_of(in),
                                                                 to = strides_of(b.output("output").shape);
                                 const std::vector<std::int64_t> multiples = integers(b.value("multiples"));
                                 std::vector<Walk> walks;
                                 for (std::size_t i = 0; i < from.size(); ++i) {
                                   const std::int64_t dim = in[static_cast<int>(i)];
                                   walks.push_back({multiples[i], 0, to[i] * dim});
                                   walks.push_back({dim, from[i], to[i]});
                                 }
                                 bind_copy(b, "input", "output", {b.input("input").dtype, walks});
                               }};

const KernelRegistration kBroadcastTo{
    "BroadcastTo", any, [](Bind& b) {
      const Shape& in = b.input("input").shape;
      const Shape& out = b.output("output").shape;
      const std::vector<std::int64_t> from = strides_of(in), to = strides_of(out);
      std::vector<Walk> walks;
      for (int i = 0; i < out.rank(); ++i) {
        const int at = i - (out.rank() - in.rank());
        const std::int64_t step = at < 0 || in[at] == 1 ? 0 : from[static_cast<std::size_t>(at)];
        walks.push_back({out[i], step, to[static_cast<std::size_t>(i)]});
      }
      bind_copy(b, "input", "output", {b.input("input").dtype, walks});
    }};

}  // namespace
}  // namespace runnel
