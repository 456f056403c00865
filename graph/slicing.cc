// From the positions of a slice to one range a dimension.
#include "graph/slicing.h"

#include <algorithm>

#include "graph/error.h"

namespace runnel {
namespace {

bool bit(std::int64_t mask, int i) { return i < 63 && ((mask >> i) & 1) != 0; }

enum class Kind { kWhole, kNewAxis, kShrink, kRange };
struct Step {
  Kind kind;
  int position;  // in the request
};

// The kind of each position, an ellipsis written out as whole dimensions. Every step but a new axis is a
// dimension.
std::vector<Step> steps_of(int rank, const SliceRequest& r) {
  std::vector<Step> steps;
  int ellipsis = -1, named = 0;
  for (int i = 0; i < r.positions; ++i) {
    if (bit(r.masks.ellipsis, i)) {
      if (ellipsis >= 0) throw InvalidArgument("a slice has two ellipses; only one is allowed");
      ellipsis = static_cast<int>(steps.size());
    } else if (bit(r.masks.new_axis, i)) {
      steps.push_back({Kind::kNewAxis, i});
    } else {
      steps.push_back({bit(r.masks.shrink_axis, i) ? Kind::kShrink : Kind::kRange, i});
      ++named;
    }
  }
  if (named > rank)
    throw InvalidArgument(cat("a slice names ", named, " dimensions of a tensor of rank ", rank));
  const auto at = ellipsis < 0 ? steps.end() : steps.begin() + ellipsis;
  steps.insert(at, static_cast<std::size_t>(rank - named), Step{Kind::kWhole, -1});
  return steps;
}

struct Range {
  std::int64_t begin = 0, stride = 1, count = kUnknown;
};

std::int64_t wrapped(std::int64_t index, std::int64_t size) { return index < 0 ? index + size : index; }

Range single(std::int64_t size, std::int64_t index, int dimension) {
  const std::int64_t at = wrapped(index, size);
  if (at < 0 || at >= size)
    throw InvalidArgument(
        cat("index ", index, " is out of range of dimension ", dimension, ", which has ", size));
  return {at, 1, 1};
}

Range range(std::int64_t size, int i, const SliceRequest& r) {
  const std::int64_t stride = (*r.strides)[static_cast<std::size_t>(i)];
  const std::int64_t low = stride > 0 ? 0 : -1, high = stride > 0 ? size : size - 1;
  const auto edge = [&](std::int64_t index) { return std::clamp(wrapped(index, size), low, high); };
  const std::int64_t begin =
      bit(r.masks.begin, i) ? (stride > 0 ? low : high) : edge((*r.begin)[static_cast<std::size_t>(i)]);
  const std::int64_t end =
      bit(r.masks.end, i) ? (stride > 0 ? high : low) : edge((*r.end)[static_cast<std::size_t>(i)]);
  const std::int64_t length = end - begin;
  if (length == 0 || (length < 0) != (stride < 0)) return {begin, stride, 0};
  return {begin, stride, length / stride + (length % stride != 0 ? 1 : 0)};
}

void check_strides(const SliceRequest& r) {
  if (!r.strides) return;
  for (int i = 0; i < r.positions; ++i) {
    if (bit(r.masks.ellipsis, i) || bit(r.masks.new_axis, i)) continue;
    const std::int64_t stride = (*r.strides)[static_cast<std::size_t>(i)];
    if (stride == 0) throw InvalidArgument(cat("stride ", i, " of a slice is 0"));
    if (bit(r.masks.shrink_axis, i) && stride < 0)
      throw InvalidArgument(
          cat("stride ", i, " of a slice is ", stride, ", but a single index goes forward"));
  }
}

// The range of one dimension; its count is unknown where the size or the numbers are.
Range range_of(const Step& step, std::int64_t size, int dimension, const SliceRequest& r) {
  if (step.kind == Kind::kWhole) return {0, 1, size};
  if (step.kind == Kind::kShrink)
    return size < 0 || !r.begin
               ? Range{0, 1, 1}
               : single(size, (*r.begin)[static_cast<std::size_t>(step.position)], dimension);
  return size < 0 || !r.begin || !r.end || !r.strides ? Range{} : range(size, step.position, r);
}

}  // namespace

Slicing resolve_slice(const Shape& shape, const SliceRequest& r) {
  check_strides(r);
  Slicing out;
  int dimension = 0;
  for (const Step& step : steps_of(shape.rank(), r)) {
    if (step.kind == Kind::kNewAxis) {
      out.shape.push_back(1);
      continue;
    }
    const Range taken = range_of(step, shape[dimension], dimension, r);
    out.begin.push_back(taken.begin);
    out.stride.push_back(taken.stride);
    out.count.push_back(taken.count);
    if (step.kind != Kind::kShrink) out.shape.push_back(taken.count);
    ++dimension;
  }
  return out;
}

}  // namespace runnel
