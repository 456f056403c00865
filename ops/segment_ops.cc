// Spec of UnsortedSegmentSum, which puts gathered gradients back: rows with the same number are added up. The
// other segment ops are not here.
#include <algorithm>

#include "graph/error.h"
#include "graph/op_spec.h"
#include "ops/arithmetic_ops.h"
#include "ops/array_gather_ops.h"
#include "ops/array_join_ops.h"
#include "ops/array_movement_ops.h"
#include "ops/array_shape_ops.h"
#include "ops/axes.h"
#include "ops/broadcast_gradient.h"
#include "ops/comparison_ops.h"
#include "ops/integers.h"
#include "ops/number_types.h"

namespace runnel {
namespace {

// `mask`, with dimensions of 1 behind its own, stretched to the shape of `like`.
Output stretched(Output mask, Output like) {
  Graph& graph = mask.graph();
  const Output front = shape(mask);
  const Output all = rank(like);
  const Output missing = all - rank(mask);
  Output ones;
  {
    const NameScope scope(graph, "ones");
    const Output count = stack({missing}, {.name = "packed"});
    ones = graph.add("Fill", {count, integer_constant(graph, DType::kInt32, 1, "Const")}, {}, scope.name());
  }
  const Output column = reshape(mask, concat({front, ones}, 0));
  return logical_and(column, ones_like(like, DType::kBool), {.name = "and"});
}

// Each row gets the gradient of the sum it went into; rows with negative numbers went nowhere.
Grads segment_sum_gradient(const Node& n, Grad d) {
  const Output ids = n.input(1);
  const Output rows = gather(d.dense(), maximum(ids, zeros_of(ids)));
  const Output summed = stretched(greater_equal(ids, 0), rows);
  return {select_v2(summed, rows, zeros_of(rows)), {}, {}};
}

const OpRegistration kUnsortedSegmentSum{{
    .name = "UnsortedSegmentSum",
    .inputs = {"data: T", "segment_ids: Tindices", "num_segments: Tnumsegments"},
    .outputs = {"output: T"},
    .attrs = {kNumberT, "Tindices: {int16, int32, int64}", "Tnumsegments: {int32, int64} = DT_INT32"},
    .shape = [](const ShapeContext& c) -> Shapes {
      const Shape data = c.input("data"), ids = c.input("segment_ids");
      const std::optional<std::int64_t> segments = single_integer(c, "num_segments");
      if (segments && *segments < 0) c.refuse(cat("num_segments is ", *segments));
      if (!data.has_rank() || !ids.has_rank()) return Shape::unknown();
      if (data.rank() < ids.rank()) c.refuse("data has fewer dimensions than segment_ids");
      const auto front = static_cast<std::size_t>(ids.rank());
      if (!Shape(data.dims().first(front)).compatible_with(ids))
        c.refuse("data does not start with the shape of segment_ids");
      return with_dimension(Shape(data.dims().subspan(front)), 0, segments.value_or(kUnknown));
    },
    .gradient = segment_sum_gradient,
    .traits = {.bind_values = {"num_segments"}},
}};

}  // namespace
}  // namespace runnel
