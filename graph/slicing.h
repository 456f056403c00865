// Which elements a slice with begins, ends and strides takes, as NumPy's basic indexing with TensorFlow's
// five masks (StridedSlice). The shape function and the kernel both need this arithmetic, and neither may
// include the other.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "graph/shape.h"

namespace runnel {

// One bit a position of the slice. A position has the first that is set of: ellipsis, new axis, shrink.
struct SliceMasks {
  std::int64_t begin = 0;        // its begin is ignored: from the end that the stride comes from
  std::int64_t end = 0;          // its end is ignored: as far as the stride goes
  std::int64_t ellipsis = 0;     // stands for all dimensions that no other position names
  std::int64_t new_axis = 0;     // a new dimension of 1
  std::int64_t shrink_axis = 0;  // one index, whose dimension goes away
};

// What is written in the brackets: `positions` of them. Lists that are not known yet are absent.
struct SliceRequest {
  int positions = 0;
  std::optional<std::vector<std::int64_t>> begin = {}, end = {}, strides = {};
  SliceMasks masks = {};
};

// The same, one entry a dimension of the tensor: elements begin, begin + stride, ..., `count` of them. What
// cannot be told yet has a count of kUnknown.
struct Slicing {
  std::vector<std::int64_t> begin, stride, count;
  Shape shape;  // of the result
};

// Requires: a shape of known rank. Throws InvalidArgument for strides of 0, two ellipses, too many positions
// and single indices out of range; ranges out of range are cut.
Slicing resolve_slice(const Shape& shape, const SliceRequest& request);

}  // namespace runnel
