// Making gradients of rows whole.
#include "ops/indexed_slices.h"

#include <cstdint>
#include <limits>

#include "graph/dataflow.h"
#include "graph/error.h"
#include "ops/array_ops.h"

namespace runnel {

Output to_dense(const IndexedSlices& slices, const Shape& shape, Location where) {
  Graph& graph = slices.values.graph();
  const NameScope scope(graph, "UnsortedSegmentSum");
  Output rows;
  if (shape.rank() > 0 && shape[0] >= 0 && shape[0] <= std::numeric_limits<std::int32_t>::max()) {
    const auto count = static_cast<std::int32_t>(shape[0]);
    rows = constant(graph, Tensor::scalar(count), {.name = "num_segments", .where = where});
  } else if (slices.dense_shape) {
    rows = slices.dense_shape[Index(0, where)];
  } else {
    throw Unimplemented(
        cat("the gradient of rows ", slices.values.name(), " does not say how many rows there are"), where);
  }
  return graph.add("UnsortedSegmentSum", {slices.values, slices.indices, rows}, {}, scope.name(), where);
}

Output to_dense(const Grad& gradient, const Shape& shape, Location where) {
  return gradient.slices() ? to_dense(*gradient.slices(), shape, where) : gradient.dense();
}

}  // namespace runnel
