// Spec of UnsortedSegmentSum, which puts gathered gradients back: rows with the same number are added up. Its
// own gradient, and the other segment ops, are not here.
#include <algorithm>

#include "graph/error.h"
#include "graph/op_spec.h"
#include "ops/axes.h"
#include "ops/number_types.h"

namespace runnel {
namespace {

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
    .gradient = Gradient::unwritten("UnsortedSegmentSum"),
    .traits = {.bind_values = {"num_segments"}},
}};

}  // namespace
}  // namespace runnel
