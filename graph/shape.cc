// Shapes as values: comparison, merging, broadcasting and text.
#include "graph/shape.h"

#include <algorithm>
#include <ostream>

#include "graph/error.h"

namespace runnel {

Shape::Shape(std::span<const std::int64_t> dims) : rank_(static_cast<int>(dims.size())) {
  for (const std::int64_t dim : dims)
    if (dim < kUnknown) throw InvalidArgument(cat("a dimension of ", dim, " is no size; -1 means unknown"));
  if (rank_ > kInline) more_.resize(dims.size());
  std::copy(dims.begin(), dims.end(), data());
}

Shape Shape::unknown() {
  Shape shape;
  shape.rank_ = -1;
  return shape;
}

Shape Shape::unknown_of_rank(int rank) {
  return Shape(std::vector<std::int64_t>(static_cast<std::size_t>(rank), kUnknown));
}

std::span<const std::int64_t> Shape::dims() const {
  return {data(), static_cast<std::size_t>(std::max(rank_, 0))};
}

bool Shape::is_known() const {
  if (!has_rank()) return false;
  for (const std::int64_t dim : dims())
    if (dim < 0) return false;
  return true;
}

std::int64_t Shape::elements() const {
  constexpr std::int64_t kMost = std::int64_t{1} << 62;
  if (!is_known()) throw Internal(cat("the number of elements of ", text(), " is not known"));
  std::int64_t count = 1;
  for (const std::int64_t dim : dims()) {
    if (dim == 0) return 0;
    if (count > kMost / dim) throw InvalidArgument(cat("shape ", text(), " has more than 2^62 elements"));
    count *= dim;
  }
  return count;
}

void Shape::push_back(std::int64_t dim) {
  if (rank_ == kInline) more_.assign(few_.begin(), few_.end());
  if (rank_ >= kInline) {
    more_.push_back(dim);
  } else {
    few_[static_cast<std::size_t>(rank_)] = dim;
  }
  ++rank_;
}

bool Shape::operator==(const Shape& other) const {
  return rank_ == other.rank_ && std::equal(dims().begin(), dims().end(), other.dims().begin());
}

bool Shape::compatible_with(const Shape& other) const {
  if (!has_rank() || !other.has_rank()) return true;
  if (rank_ != other.rank_) return false;
  for (int i = 0; i < rank_; ++i) {
    const std::int64_t a = (*this)[i], b = other[i];
    if (a >= 0 && b >= 0 && a != b) return false;
  }
  return true;
}

Shape Shape::merged_with(const Shape& other) const {
  if (!compatible_with(other))
    throw InvalidArgument(cat("shapes ", text(), " and ", other.text(), " differ"));
  if (!has_rank()) return other;
  if (!other.has_rank()) return *this;
  Shape both = *this;
  for (int i = 0; i < rank_; ++i)
    if (both[i] < 0) both.set(i, other[i]);
  return both;
}

std::string Shape::text() const {
  if (!has_rank()) return "<unknown>";
  std::string out = "[";
  for (int i = 0; i < rank_; ++i) {
    if (i > 0) out += ",";
    out += (*this)[i] < 0 ? "?" : std::to_string((*this)[i]);
  }
  return out + "]";
}

std::ostream& operator<<(std::ostream& out, const Shape& shape) { return out << shape.text(); }

Shape broadcast(const Shape& a, const Shape& b) {
  if (!a.has_rank() || !b.has_rank()) return Shape::unknown();
  const int rank = std::max(a.rank(), b.rank());
  Shape out = Shape::unknown_of_rank(rank);
  for (int i = 0; i < rank; ++i) {
    const int ia = i - (rank - a.rank()), ib = i - (rank - b.rank());
    const std::int64_t da = ia < 0 ? 1 : a[ia], db = ib < 0 ? 1 : b[ib];
    if (da >= 0 && db >= 0 && da != db && da != 1 && db != 1)
      throw InvalidArgument(cat("shapes ", a, " and ", b, " do not broadcast: ", da, " against ", db));
    // An unknown dimension stays unknown against 1; against n > 1 it must be 1 or n, so the result is n.
    out.set(i, da == 1 ? db : db == 1 ? da : da < 0 ? db : da);
  }
  return out;
}

BroadcastAxes broadcast_axes(const Shape& a, const Shape& b) {
  const Shape whole = broadcast(a, b);
  BroadcastAxes out;
  if (a == b) return out;
  for (int i = 0; i < whole.rank(); ++i) {
    const int at_a = i - (whole.rank() - a.rank()), at_b = i - (whole.rank() - b.rank());
    const std::int64_t of_a = at_a < 0 ? 1 : a[at_a], of_b = at_b < 0 ? 1 : b[at_b];
    if (of_a == 1) out.a.push_back(i);
    if (of_b == 1) out.b.push_back(i);
  }
  return out;
}

}  // namespace runnel
