// Folding loops into fewer, and running them.
#include "kernels/array/strided_copy.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "graph/error.h"

namespace runnel {

namespace {

// An element of which only the size matters. Of bytes, since those may lie over memory of any type.
template <std::size_t N>
struct Raw {
  alignas(N < 8 ? N : 8) std::byte bytes[N];
};

// Elements that one thread copies before a second is worth waking.
constexpr std::int64_t kGrain = 1 << 15;

template <class E>
void copy_row(const Walk& walk, const E* from, E* to) {
  if (walk.from == 1 && walk.to == 1) {
    if constexpr (std::is_trivially_copyable_v<E>)
      std::memcpy(to, from, static_cast<std::size_t>(walk.size) * sizeof(E));
    else
      std::copy_n(from, walk.size, to);
  } else if (walk.from == 0 && walk.to == 1) {
    std::fill_n(to, walk.size, *from);
  } else {
    for (std::int64_t i = 0; i < walk.size; ++i) to[i * walk.to] = from[i * walk.from];
  }
}

// The loops without those of one turn, and with neighbours that step like one longer loop made one.
std::vector<Walk> folded(const std::vector<Walk>& walks) {
  std::vector<Walk> out;
  for (const Walk& walk : walks) {
    if (walk.size == 1) continue;
    if (!out.empty() && out.back().from == walk.from * walk.size && out.back().to == walk.to * walk.size)
      out.back() = {out.back().size * walk.size, walk.from, walk.to};
    else
      out.push_back(walk);
  }
  if (out.empty()) out.push_back({1, 1, 1});
  return out;
}

}  // namespace

// Rows begin to end, a row being one turn of all loops but the innermost.
template <class E>
void copy_rows(const StridedCopy& copy, const E* from, E* to, std::int64_t begin, std::int64_t end) {
  const int outer = copy.loops_ - 1;
  std::array<std::int64_t, StridedCopy::kLoops> at;
  from += copy.from_;
  to += copy.to_;
  std::int64_t rest = begin;
  for (int i = outer; i-- > 0;) {
    const Walk& walk = copy.walks_[static_cast<std::size_t>(i)];
    at[static_cast<std::size_t>(i)] = rest % walk.size;
    rest /= walk.size;
    from += at[static_cast<std::size_t>(i)] * walk.from;
    to += at[static_cast<std::size_t>(i)] * walk.to;
  }
  for (std::int64_t row = begin; row < end; ++row) {
    copy_row(copy.walks_[static_cast<std::size_t>(outer)], from, to);
    for (int i = outer; i-- > 0;) {
      const Walk& walk = copy.walks_[static_cast<std::size_t>(i)];
      from += walk.from;
      to += walk.to;
      if (++at[static_cast<std::size_t>(i)] < walk.size) break;
      from -= walk.size * walk.from;
      to -= walk.size * walk.to;
      at[static_cast<std::size_t>(i)] = 0;
    }
  }
}

// A plane whose columns are dense in the source and whose rows are in the destination, in tiles that fit the
// nearest cache whichever way they are walked.
template <class E>
void copy_plane(const Walk& rows, const Walk& columns, const E* from, E* to, std::int64_t begin,
                std::int64_t end) {
  constexpr std::int64_t kTile = 16;
  for (std::int64_t top = begin; top < end; top += kTile)
    for (std::int64_t left = 0; left < columns.size; left += kTile)
      for (std::int64_t i = top; i < std::min(top + kTile, end); ++i)
        for (std::int64_t k = left; k < std::min(left + kTile, columns.size); ++k)
          to[i * rows.to + k] = from[i + k * columns.from];
}

template <class E>
void run_copy(const StridedCopy& copy, Context& c, const std::byte* from, std::byte* to) {
  const E* x = reinterpret_cast<const E*>(from);
  E* y = reinterpret_cast<E*>(to);
  const Walk& inner = copy.walks_[static_cast<std::size_t>(copy.loops_ - 1)];
  if (copy.loops_ == 1) return copy_row(inner, x + copy.from_, y + copy.to_);
  const std::int64_t rows = copy.elements_ / inner.size;
  c.parallel(rows, std::max<std::int64_t>(1, kGrain / inner.size), [&](std::int64_t begin, std::int64_t end) {
    const Walk& outer = copy.walks_[0];
    if (copy.loops_ == 2 && outer.from == 1 && inner.to == 1)
      copy_plane(outer, inner, x + copy.from_, y + copy.to_, begin, end);
    else
      copy_rows(copy, x, y, begin, end);
  });
}

namespace {

StridedCopy::Run run_for(DType type) {
  if (type == DType::kString) return run_copy<std::string>;
  switch (size_of(type)) {
    case 1: return run_copy<Raw<1>>;
    case 2: return run_copy<Raw<2>>;
    case 4: return run_copy<Raw<4>>;
    case 8: return run_copy<Raw<8>>;
    case 16: return run_copy<Raw<16>>;
    default: throw Unimplemented(cat("elements of type ", type, " cannot be moved yet"));
  }
}

}  // namespace

StridedCopy::StridedCopy(DType type, const std::vector<Walk>& walks, std::int64_t from, std::int64_t to)
    : from_(from), to_(to), elements_(1), run_(run_for(type)) {
  for (const Walk& walk : walks) elements_ *= walk.size;
  if (elements_ == 0) return;
  const std::vector<Walk> fewest = folded(walks);
  if (fewest.size() > kLoops)
    throw Unimplemented(
        cat("a pattern of ", fewest.size(), " dimensions; at most ", kLoops, " can be moved"));
  std::ranges::copy(fewest, walks_.begin());
  loops_ = static_cast<int>(fewest.size());
}

std::vector<std::int64_t> strides_of(const Shape& shape) {
  std::vector<std::int64_t> strides(static_cast<std::size_t>(shape.rank()));
  std::int64_t step = 1;
  for (int i = shape.rank(); i-- > 0;) {
    strides[static_cast<std::size_t>(i)] = step;
    step *= shape[i];
  }
  return strides;
}

void clear_elements(DType type, std::byte* to, std::int64_t count) {
  if (count == 0) return;  // `to` may be null
  if (type == DType::kString) {
    std::string* strings = reinterpret_cast<std::string*>(to);
    for (std::int64_t i = 0; i < count; ++i) strings[i].clear();
  } else {
    std::memset(to, 0, static_cast<std::size_t>(count) * size_of(type));
  }
}

}  // namespace runnel
