// Binding of reductions along axes. Neighbouring dimensions that are both reduced or both kept are joined
// first; what is left is nearly always a plain case: everything, rows, or columns. How to reduce is a type R;
// what runs it knows neither operation nor dtype, so that it is compiled once:
//
//   R::Element, R::Sum      of the tensor, and of what is carried along (8 bytes at most)
//   R::kPacket              elements that cuts of a long reduction keep together
//   R::identity()           the result for no elements
//   R::combine(a, b)        of two partial results
//   R::contiguous(x, n)     of n neighbours
//   R::columns(x, n, width, begin, end, out)   finished results of the columns [begin, end) of n rows
//   R::finish(sum, count)   the element in the end, of `count` elements
//
// The order of operations depends on shapes alone, never on threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "graph/kernel.h"
#include "kernels/math/sum.h"

namespace runnel {

inline constexpr std::int64_t kColumnStep = 16;  // columns worked on at once; a multiple of every packet
inline constexpr int kMaxCuts = 6;               // of one long reduction, for threads

// A shape with joined dimensions, from the outermost inwards; those of one are left out.
struct Reduced {
  struct Dim {
    std::int64_t size;
    bool reduced;
    std::int64_t stride;
  };
  std::vector<Dim> dims, kept, gone;     // all; those that stay; those that go, but the innermost of them
  Dim inner{1, true, 1};                 // the innermost of those that go
  std::int64_t inputs = 1, outputs = 1;  // elements
  std::int64_t count = 1;                // elements an output

  bool pattern(std::initializer_list<bool> reduced) const;
  static std::int64_t offset(const std::vector<Dim>& dims, std::int64_t i);
};

// R's loops with the types erased.
struct Reducer {
  std::int64_t element_size, packet;
  void (*fill)(void* y, std::int64_t n);
  // Results [begin, end) of a matrix with n columns, or of any pattern.
  void (*rows)(const void* x, void* y, std::int64_t begin, std::int64_t end, std::int64_t n);
  void (*any)(const Reduced& r, const void* x, void* y, std::int64_t begin, std::int64_t end);
  void (*columns)(const void* x, std::int64_t n, std::int64_t width, std::int64_t begin, std::int64_t end,
                  void* y);
  // One long reduction: its i-th part out of n elements from x on, and all parts of `total` elements
  // together.
  void (*part)(const void* x, std::int64_t n, void* parts, std::int64_t i);
  void (*join)(const void* parts, std::int64_t total, void* y);
};
void bind_reducer(Bind& b, const Reducer& reducer);

template <class R>
struct ReduceLoops {
  using T = typename R::Element;
  using S = typename R::Sum;
  static_assert(sizeof(S) <= 8);

  static S halved(const T* x, std::int64_t n) {
    const std::int64_t left = sum_cut(n, R::kPacket);
    if (left == n) return R::contiguous(x, n);
    const S a = halved(x, left);
    return R::combine(a, halved(x + left, n - left));
  }
  static S joined(const S*& part, std::int64_t n, int cuts) {
    const std::int64_t left = sum_cut(n, R::kPacket);
    if (left == n || cuts == 0) return *part++;
    const S a = joined(part, left, cuts - 1);
    return R::combine(a, joined(part, n - left, cuts - 1));
  }

  static void fill(void* y, std::int64_t n) {
    std::fill_n(static_cast<T*>(y), n, R::finish(R::identity(), 0));
  }
  static void rows(const void* x, void* y, std::int64_t begin, std::int64_t end, std::int64_t n) {
    for (std::int64_t i = begin; i < end; ++i)
      static_cast<T*>(y)[i] = R::finish(halved(static_cast<const T*>(x) + i * n, n), n);
  }
  static void any(const Reduced& r, const void* x, void* y, std::int64_t begin, std::int64_t end) {
    const std::int64_t outer = r.count / r.inner.size;
    for (std::int64_t o = begin; o < end; ++o) {
      const T* base = static_cast<const T*>(x) + Reduced::offset(r.kept, o);
      S sum = R::identity();
      for (std::int64_t i = 0; i < outer; ++i) {
        const T* from = base + Reduced::offset(r.gone, i);
        if (r.inner.stride == 1) sum = R::combine(sum, halved(from, r.inner.size));
        for (std::int64_t k = 0; r.inner.stride != 1 && k < r.inner.size; ++k)
          sum = R::combine(sum, static_cast<S>(from[k * r.inner.stride]));
      }
      static_cast<T*>(y)[o] = R::finish(sum, r.count);
    }
  }
  static void columns(const void* x, std::int64_t n, std::int64_t width, std::int64_t begin, std::int64_t end,
                      void* y) {
    R::columns(static_cast<const T*>(x), n, width, begin, end, static_cast<T*>(y));
  }
  static void part(const void* x, std::int64_t n, void* parts, std::int64_t i) {
    static_cast<S*>(parts)[i] = halved(static_cast<const T*>(x), n);
  }
  static void join(const void* parts, std::int64_t total, void* y) {
    const S* next = static_cast<const S*>(parts);
    *static_cast<T*>(y) = R::finish(joined(next, total, kMaxCuts), total);
  }
};

template <class R>
void bind_reduction(Bind& b) {
  using L = ReduceLoops<R>;
  bind_reducer(
      b, {sizeof(typename R::Element), R::kPacket, L::fill, L::rows, L::any, L::columns, L::part, L::join});
}

// R for an operation without an order to keep: `Op::identity<S>()`, `Op::combine(S, S)` and `Op::finish(S,
// count)`.
template <class Op, class T, class S = T>
struct Fold {
  using Element = T;
  using Sum = S;
  static constexpr std::int64_t kPacket = 8;
  static S identity() { return Op::template identity<S>(); }
  static S combine(S a, S b) { return Op::combine(a, b); }
  static T finish(S sum, std::int64_t count) { return static_cast<T>(Op::finish(sum, count)); }

  // Sixteen partial results side by side, which the compiler makes vectors of.
  [[gnu::noinline]] static S contiguous(const T* x, std::int64_t n) {
    S lanes[kColumnStep];
    std::fill_n(lanes, kColumnStep, identity());
    std::int64_t i = 0;
    for (; i + kColumnStep <= n; i += kColumnStep)
      for (std::int64_t k = 0; k < kColumnStep; ++k) lanes[k] = combine(lanes[k], static_cast<S>(x[i + k]));
    S sum = identity();
    for (const S lane : lanes) sum = combine(sum, lane);
    for (; i < n; ++i) sum = combine(sum, static_cast<S>(x[i]));
    return sum;
  }

  static void columns(const T* x, std::int64_t n, std::int64_t width, std::int64_t begin, std::int64_t end,
                      T* out) {
    for (std::int64_t j = begin; j < end; j += kColumnStep) {
      S lanes[kColumnStep];
      std::fill_n(lanes, kColumnStep, identity());
      const std::int64_t w = std::min(kColumnStep, end - j);
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t k = 0; k < w; ++k)
          lanes[k] = combine(lanes[k], static_cast<S>(x[i * width + j + k]));
      for (std::int64_t k = 0; k < w; ++k) out[j + k] = finish(lanes[k], n);
    }
  }
};

}  // namespace runnel
