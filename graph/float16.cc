// Both layouts differ in the width of the fraction alone.
#include "graph/float16.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace runnel {
namespace {

// A sixteen-bit float: one bit of sign, then the exponent, then kMantissa bits.
template <int kMantissa>
struct Layout {
  static constexpr int kBias = (1 << (14 - kMantissa)) - 1;
  static constexpr int kInfinity = 0x7fff & ~((1 << kMantissa) - 1);

  static double read(std::uint16_t bits) {
    const int size = bits & 0x7fff, mantissa = size & ((1 << kMantissa) - 1), exponent = size >> kMantissa;
    double value = exponent == 0 ? std::ldexp(mantissa, 1 - kBias - kMantissa)
                                 : std::ldexp(mantissa + (1 << kMantissa), exponent - kBias - kMantissa);
    if (size >= kInfinity)
      value = size == kInfinity ? std::numeric_limits<double>::infinity()
                                : std::numeric_limits<double>::quiet_NaN();
    return bits & 0x8000 ? -value : value;
  }

  // The nearest, ties to even.
  static std::uint16_t write(double value) {
    const int sign = std::signbit(value) ? 0x8000 : 0;
    if (std::isnan(value)) return static_cast<std::uint16_t>(sign | kInfinity | 1 << (kMantissa - 1));
    const double size = std::min(std::abs(value), 1e300);  // anything over the largest becomes infinite
    if (size == 0) return static_cast<std::uint16_t>(sign);
    const int exponent = std::max(std::ilogb(size), 1 - kBias);
    // In units of the last bit; a carry out of the mantissa adds one to the exponent, as it should.
    const double units = std::nearbyint(std::ldexp(size, kMantissa - exponent));
    const double bits = units + std::ldexp(exponent + kBias - 1, kMantissa);
    return static_cast<std::uint16_t>(sign | (bits < kInfinity ? static_cast<int>(bits) : kInfinity));
  }
};
using HalfLayout = Layout<10>;
using Bfloat16Layout = Layout<7>;

}  // namespace

double value_of(Half half) { return HalfLayout::read(half.bits); }
double value_of(Bfloat16 bfloat16) { return Bfloat16Layout::read(bfloat16.bits); }
Half nearest_half(double value) { return {HalfLayout::write(value)}; }
Bfloat16 nearest_bfloat16(double value) { return {Bfloat16Layout::write(value)}; }

}  // namespace runnel
