// Cumsum and Cumprod. The tensor is [outer, length, inner]: each of the `length` rows of `inner` elements is
// the one before it, combined with a row of x. The order along the axis is the axis's own, so that the bits
// do not depend on threads, which share the outer dimension.
#include <algorithm>

#include "kernels/math/elementwise.h"

namespace runnel {
namespace {

struct Plus {
  static constexpr int kStart = 0;
  template <class T>
  static T apply(T x, T y) {
    return static_cast<T>(static_cast<Wrapping<T>>(x) + static_cast<Wrapping<T>>(y));
  }
};
struct Times {
  static constexpr int kStart = 1;
  template <class T>
  static T apply(T x, T y) {
    return static_cast<T>(static_cast<Wrapping<T>>(x) * static_cast<Wrapping<T>>(y));
  }
};

struct Layout {
  std::int64_t outer = 1, length = 1, inner = 1;
  bool exclusive = false, reverse = false;
};

Layout layout(const Bind& b) {
  const Shape& x = b.input("x").shape;
  const std::int64_t axis = integers(b.value("axis"))[0], at = axis < 0 ? axis + x.rank() : axis;
  Layout out{.exclusive = b.flag("exclusive"), .reverse = b.flag("reverse")};
  for (int i = 0; i < x.rank(); ++i) (i < at ? out.outer : i == at ? out.length : out.inner) *= x[i];
  return out;
}

// One of the outer blocks. Requires: length and inner are not 0.
template <class F, class T>
void scan_block(const Layout& l, const T* x, T* y) {
  const std::int64_t step = l.reverse ? -l.inner : l.inner;
  if (l.reverse) {
    x += (l.length - 1) * l.inner;
    y += (l.length - 1) * l.inner;
  }
  if (l.exclusive)
    std::fill_n(y, l.inner, T(F::kStart));
  else
    std::copy_n(x, l.inner, y);
  for (std::int64_t k = 1; k < l.length; ++k) {
    const T* before = y;
    const T* row = l.exclusive ? x : x + step;
    x += step;
    y += step;
    for (std::int64_t i = 0; i < l.inner; ++i) y[i] = F::apply(before[i], row[i]);
  }
}

template <class F, class T>
void bind_scan(Bind& b) {
  const Layout l = layout(b);
  const std::int64_t block = l.length * l.inner;
  b.run([l, block, in = b.in<T>("x"), out = b.out<T>("out")](Context& c) {
    if (block == 0) return;
    const T* x = c[in];
    T* y = c[out];
    c.parallel(l.outer, std::max<std::int64_t>(1, kElementwiseGrain / block),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t i = begin; i < end; ++i) scan_block<F>(l, x + i * block, y + i * block);
               });
  });
}

constexpr auto kTypes = on<float, double, std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
                           std::uint16_t, std::uint32_t, std::uint64_t>;
const KernelRegistration kCumsum{"Cumsum", kTypes, []<class T>(Bind& b) { bind_scan<Plus, T>(b); }};
const KernelRegistration kCumprod{"Cumprod", kTypes, []<class T>(Bind& b) { bind_scan<Times, T>(b); }};

}  // namespace
}  // namespace runnel
