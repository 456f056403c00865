// Cast between numbers and bools. C leaves a float outside of an integer's range undefined; here it gives
// what x86's conversion does and TensorFlow so returns: the lowest int32 (or int64), cut to the width of
// smaller types.
#include <cstdint>
#include <limits>
#include <type_traits>

#include "graph/error.h"
#include "kernels/math/elementwise.h"

namespace runnel {
namespace {

// The integer that x86's conversion of `x` to I gives: the lowest one for what does not fit and for NaN.
template <class I, class S>
I cut(S x) {
  constexpr S kLowest = static_cast<S>(std::numeric_limits<I>::min());  // a power of two, exact
  return x >= kLowest && x < -kLowest ? static_cast<I>(x) : std::numeric_limits<I>::min();
}

template <class D>
struct Converted {
  template <class S>
  static D apply(S x) {
    if constexpr (std::is_same_v<D, bool>) {
      return x != S{0};
    } else if constexpr (std::is_floating_point_v<S> && std::is_same_v<D, std::uint64_t>) {
      constexpr S kHalf = S(9223372036854775808.0);
      const bool high = x >= kHalf && x < 2 * kHalf;
      return static_cast<D>(cut<std::int64_t>(high ? x - kHalf : x)) + (high ? D{1} << 63 : 0);
    } else if constexpr (std::is_floating_point_v<S> && std::is_integral_v<D>) {
      constexpr bool kWide = sizeof(D) == 8 || std::is_same_v<D, std::uint32_t>;
      return static_cast<D>(cut<std::conditional_t<kWide, std::int64_t, std::int32_t>>(x));
    } else {
      return static_cast<D>(x);
    }
  }
};

// From the byte of a bool: gcc makes vectors of that.
template <class D>
struct FromBool {
  static D apply(std::uint8_t x) { return static_cast<D>(x != 0); }
};

template <class S, class D>
bool bind_if(Bind& b) {
  if (b.type("DstT") != dtype_of<D>()) return false;
  if constexpr (std::is_same_v<S, bool>)
    bind_unary<FromBool<D>, std::uint8_t, D>(b);
  else
    bind_unary<Converted<D>, S, D>(b);
  return true;
}

template <class S, class... Ds>
void bind_to(Bind& b, Types<Ds...>) {
  if (!(bind_if<S, Ds>(b) || ...)) throw Unimplemented(cat("no conversion to ", b.type("DstT")));
}

constexpr auto kTypes = on<float, double, std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
                           std::uint16_t, std::uint32_t, std::uint64_t, bool>;

const KernelRegistration kCast{"Cast", kTypes("SrcT"), []<class S>(Bind& b) { bind_to<S>(b, kTypes); }};

}  // namespace
}  // namespace runnel
