// UnsortedSegmentSum: rows are added to their segments in order of rows, so that the sums do not depend on
// threads. Negative segments are left out, as in TensorFlow.
#include <algorithm>

#include "graph/error.h"
#include "graph/kernel.h"

namespace runnel {
namespace {

template <class T, class I>
void bind_sum(Bind& b) {
  const std::int64_t elements = b.output("output").shape.elements();
  const std::int64_t segments = b.output("output").shape[0], rows = b.input("segment_ids").shape.elements();
  const std::int64_t width = segments == 0 ? 0 : elements / segments;
  b.run([=, x = b.in<T>("data"), ids = b.in<I>("segment_ids"), y = b.out<T>("output")](Context& c) {
    std::fill_n(c[y], elements, T(0));
    for (std::int64_t i = 0; i < rows; ++i) {
      const I id = c[ids][i];
      if (id < 0) continue;
      if (id >= segments)
        throw InvalidArgument(cat("segment_ids[", i, "] = ", id, " is not in [0, ", segments, ")"));
      const T* __restrict from = c[x] + i * width;
      T* __restrict to = c[y] + id * width;
      for (std::int64_t k = 0; k < width; ++k) to[k] += from[k];
    }
  });
}

const KernelRegistration kUnsortedSegmentSum{
    "UnsortedSegmentSum", on<float, double, std::int32_t, std::int64_t>, []<class T>(Bind& b) {
      switch (b.input("segment_ids").dtype) {
        case DType::kInt16: return bind_sum<T, std::int16_t>(b);
        case DType::kInt32: return bind_sum<T, std::int32_t>(b);
        default: return bind_sum<T, std::int64_t>(b);
      }
    }};

}  // namespace
}  // namespace runnel
