// Sum and Mean. Floats in TensorFlow's order; integers wrap around in a sum, and are added in 64 bits for a
// mean.
#include "kernels/math/sum.h"

#include <type_traits>

#include "kernels/math/elementwise.h"
#include "kernels/math/reduce.h"

namespace runnel {
namespace {

// Divides by the count, or not.
struct Total {
  template <class S>
  static S finish(S sum, std::int64_t) {
    return sum;
  }
};
struct Average {
  template <class S>
  static S finish(S sum, std::int64_t count) {
    if constexpr (std::is_integral_v<S>)
      return count == 0 ? S{0} : sum / static_cast<S>(count);
    else
      return sum / static_cast<S>(count);
  }
};

template <class T, class Last>
struct FloatSum {
  using Element = T;
  using Sum = T;
  static constexpr std::int64_t kPacket = PacketSum<T>::kWidth;
  static T identity() { return 0; }
  static T combine(T a, T b) { return a + b; }
  static T contiguous(const T* x, std::int64_t n) { return PacketSum<T>::contiguous(x, n); }
  static T finish(T sum, std::int64_t count) { return Last::finish(sum, count); }
  static void columns(const T* x, std::int64_t n, std::int64_t width, std::int64_t begin, std::int64_t end,
                      T* out) {
    PacketSum<T>::columns(x, n, width, begin, end, out);
    if constexpr (!std::is_same_v<Last, Total>)
      for (std::int64_t k = begin; k < end; ++k) out[k] = finish(out[k], n);
  }
};

template <class Last>
struct IntegerSum : Last {
  template <class S>
  static S identity() {
    return 0;
  }
  template <class S>
  static S combine(S a, S b) {
    return static_cast<S>(static_cast<Wrapping<S>>(a) + static_cast<Wrapping<S>>(b));
  }
};

template <class T>
using Wide = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;

template <class T>
void bind_sum(Bind& b) {
  if constexpr (std::is_floating_point_v<T>)
    bind_reduction<FloatSum<T, Total>>(b);
  else
    bind_reduction<Fold<IntegerSum<Total>, T>>(b);
}
template <class T>
void bind_mean(Bind& b) {
  if constexpr (std::is_floating_point_v<T>)
    bind_reduction<FloatSum<T, Average>>(b);
  else
    bind_reduction<Fold<IntegerSum<Average>, T, Wide<T>>>(b);
}

constexpr auto kNumbers = on<float, double, std::int8_t, std::int16_t, std::int32_t, std::int64_t,
                             std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>;

const KernelRegistration kSum{"Sum", kNumbers, []<class T>(Bind& b) { bind_sum<T>(b); }};
const KernelRegistration kMean{"Mean", kNumbers, []<class T>(Bind& b) { bind_mean<T>(b); }};

}  // namespace
}  // namespace runnel
