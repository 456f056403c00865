// Binding of kernels that compute each element on its own, from one tensor or from two that broadcast. The
// operation is a type with `static R apply(T x, T y)`; it gives three plain loops (vector code is the
// compiler's affair), and what runs them knows neither operation nor type, so that it is compiled once. A
// result may lie in the memory of an input: element i is read before it is written.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>

#include "graph/kernel.h"
#include "kernels/math/broadcast.h"

namespace runnel {

// Ranges below this many elements are not worth a thread: about 10 us of simple arithmetic.
inline constexpr std::int64_t kElementwiseGrain = 32768;

// Signed integers wrap around like unsigned ones, instead of being undefined: compute in this type.
template <class T, bool = std::is_integral_v<T>>
struct WrappingType {
  using type = T;
};
template <class T>
struct WrappingType<T, true> {
  using type = std::make_unsigned_t<decltype(T{} + 0)>;
};
template <class T>
using Wrapping = typename WrappingType<T>::type;

// Loops over rows of results, with both sides advancing or one of them staying at its first element.
struct BinaryLoops {
  using Row = void (*)(const void* x, const void* y, void* z, const Stretch::Rows& s);
  Row both, left_stays, right_stays;
  void (*one)(const void* x, const void* y, void* z);  // a single result
  std::int64_t input_size, output_size;                // bytes an element
  // Looks at all of y before anything is written, and may throw; null for nothing.
  void (*check_y)(const void* y, std::int64_t n) = nullptr;
};
struct UnaryLoop {
  void (*row)(const void* x, void* y, std::int64_t n);
  std::int64_t input_size, output_size;
  std::int64_t grain = kElementwiseGrain;
};

// Binds z = F(x, y), or y = F(x), for tensors of any shapes that broadcast.
void bind_loops(Bind& b, const BinaryLoops& loops);
void bind_loops(Bind& b, const UnaryLoop& loop);

template <class F, class T, class R>
struct Loops {
  static void both(const void* x, const void* y, void* z, const Stretch::Rows& s) {
    by_rows(x, y, z, s, [](const T* a, const T* b, R* __restrict r, std::int64_t n) {
      for (std::int64_t i = 0; i < n; ++i) r[i] = F::apply(a[i], b[i]);
    });
  }
  static void left_stays(const void* x, const void* y, void* z, const Stretch::Rows& s) {
    by_rows(x, y, z, s, [](const T* a, const T* b, R* __restrict r, std::int64_t n) {
      const T left = *a;
      for (std::int64_t i = 0; i < n; ++i) r[i] = F::apply(left, b[i]);
    });
  }
  static void right_stays(const void* x, const void* y, void* z, const Stretch::Rows& s) {
    by_rows(x, y, z, s, [](const T* a, const T* b, R* __restrict r, std::int64_t n) {
      const T right = *b;
      for (std::int64_t i = 0; i < n; ++i) r[i] = F::apply(a[i], right);
    });
  }
  static void one(const void* x, const void* y, void* z) {
    *static_cast<R*>(z) = F::apply(*static_cast<const T*>(x), *static_cast<const T*>(y));
  }
  static void alone(const void* x, void* y, std::int64_t n) {
    const T* a = static_cast<const T*>(x);
    R* __restrict r = static_cast<R*>(y);
    for (std::int64_t i = 0; i < n; ++i) r[i] = F::apply(a[i]);
  }

 private:
  template <class Row>
  static void by_rows(const void* x, const void* y, void* z, const Stretch::Rows& s, Row row) {
    const T *a = static_cast<const T*>(x), *b = static_cast<const T*>(y);
    R* r = static_cast<R*>(z);
    for (std::int64_t i = 0; i < s.rows; ++i, a += s.x_step, b += s.y_step, r += s.n) row(a, b, r, s.n);
  }
};

template <class F, class T, class R = T>
BinaryLoops binary_loops() {
  using L = Loops<F, T, R>;
  return {L::both, L::left_stays, L::right_stays, L::one, sizeof(T), sizeof(R)};
}
template <class F, class T, class R = T>
void bind_binary(Bind& b) {
  bind_loops(b, binary_loops<F, T, R>());
}
// `grain`: elements that are worth a thread.
template <class F, class T, class R = T>
void bind_unary(Bind& b, std::int64_t grain = kElementwiseGrain) {
  bind_loops(b, UnaryLoop{Loops<F, T, R>::alone, sizeof(T), sizeof(R), grain});
}

}  // namespace runnel
