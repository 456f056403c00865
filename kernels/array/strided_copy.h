// Moving elements of any dtype from one regular pattern of places to another: a nest of loops, each with a
// size and a step in the source and in the destination. Transposing, tiling, stretching, slicing, padding and
// joining are all this. Elements are moved by their size, so that one loop serves all dtypes of that size.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "graph/dtype.h"
#include "graph/kernel.h"
#include "graph/shape.h"

namespace runnel {

// One loop: how often, and how many elements further each time. A step of 0 in the source repeats an element.
struct Walk {
  std::int64_t size, from, to;
};

// Made once a plan; running it changes nothing and allocates nothing.
class StridedCopy {
 public:
  // The outermost loop first; `from` and `to` are where to start. Throws Unimplemented for dtypes without a
  // fixed size but string, and for patterns of over 16 loops that do not fold into fewer.
  StridedCopy(DType type, const std::vector<Walk>& walks, std::int64_t from = 0, std::int64_t to = 0);

  void run(Context& c, const std::byte* from, std::byte* to) const {
    if (elements_ > 0) run_(*this, c, from, to);
  }

  static constexpr int kLoops = 16;
  using Run = void (*)(const StridedCopy&, Context&, const std::byte*, std::byte*);

 private:
  template <class E>
  friend void run_copy(const StridedCopy& copy, Context& c, const std::byte* from, std::byte* to);
  template <class E>
  friend void copy_rows(const StridedCopy& copy, const E* from, E* to, std::int64_t begin, std::int64_t end);

  std::array<Walk, kLoops> walks_{};
  int loops_ = 0;  // at least one; the last is the innermost
  std::int64_t from_ = 0, to_ = 0, elements_ = 0;
  Run run_ = nullptr;
};

// Elements to the next along each dimension of a dense tensor.
std::vector<std::int64_t> strides_of(const Shape& shape);

// Sets `count` elements to what zero bytes mean (empty strings).
void clear_elements(DType type, std::byte* to, std::int64_t count);

// A closure that runs one copy from an input to an output.
inline void bind_copy(Bind& b, std::string_view in, std::string_view out, const StridedCopy& copy) {
  b.run([copy, x = b.in<std::byte>(in), y = b.out<std::byte>(out)](Context& c) { copy.run(c, c[x], c[y]); });
}

}  // namespace runnel
