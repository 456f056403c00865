// Making gradients of rows whole, and joining them.
#include "ops/indexed_slices.h"

#include <cstdint>
#include <limits>

#include "graph/dataflow.h"
#include "graph/error.h"
#include "ops/array_join_ops.h"
#include "ops/array_ops.h"
#include "ops/math_ops.h"

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

IndexedSlices joined_rows(const std::vector<IndexedSlices>& parts, Location where) {
  bool mixed = false;
  for (const IndexedSlices& part : parts)
    mixed = mixed || base_of(part.indices.dtype()) != base_of(parts[0].indices.dtype());
  Outputs values, indices;
  for (const IndexedSlices& part : parts) {
    values.push_back(part.values);
    indices.push_back(mixed ? cast(part.indices, DType::kInt64, {.where = where}) : part.indices);
  }
  const Output all_values = concat(values, 0, {.where = where});
  return {all_values, concat(indices, 0, {.where = where}), parts[0].dense_shape};
}

}  // namespace runnel
