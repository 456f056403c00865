// Div, RealDiv, DivNoNan, TruncateDiv, FloorDiv and FloorMod. A zero divisor of integers is an error, found
// before anything is written. The lowest integer divided by -1 wraps around to itself.
#include <algorithm>
#include <cmath>

#include "graph/error.h"
#include "kernels/math/elementwise.h"

namespace runnel {
namespace {

// x / y of integers as C does it, but defined for -1.
template <class T>
T cut_quotient(T x, T y) {
  if constexpr (std::is_signed_v<T>)
    if (y == -1) return static_cast<T>(-static_cast<Wrapping<T>>(x));
  return static_cast<T>(x / y);
}

// x - cut_quotient(x, y) * y, which has the sign of x.
template <class T>
T cut_remainder(T x, T y) {
  if constexpr (std::is_floating_point_v<T>)
    return std::fmod(x, y);
  else if constexpr (std::is_signed_v<T>)
    return y == -1 ? T{0} : static_cast<T>(x % y);
  else
    return static_cast<T>(x % y);
}

struct Quotient {
  template <class T>
  static T apply(T x, T y) {
    if constexpr (std::is_floating_point_v<T>)
      return x / y;
    else
      return cut_quotient(x, y);
  }
};
struct QuotientOrZero {
  template <class T>
  static T apply(T x, T y) {
    return y == T{0} ? T{0} : x / y;
  }
};
struct CutQuotient {
  template <class T>
  static T apply(T x, T y) {
    if constexpr (std::is_floating_point_v<T>)
      return std::trunc(x / y);
    else
      return cut_quotient(x, y);
  }
};
struct FloorQuotient {
  template <class T>
  static T apply(T x, T y) {
    if constexpr (std::is_floating_point_v<T>)
      return std::floor(x / y);
    else if constexpr (std::is_signed_v<T>)
      return static_cast<T>(cut_quotient(x, y) - ((x < 0) != (y < 0) && cut_remainder(x, y) != 0));
    else
      return cut_quotient(x, y);
  }
};
struct FloorRemainder {
  template <class T>
  static T apply(T x, T y) {
    const T cut = cut_remainder(x, y);
    if constexpr (std::is_unsigned_v<T>)
      return cut;
    else
      return cut != 0 && (cut < 0) != (y < 0) ? static_cast<T>(cut + y) : cut;
  }
};

template <class T>
void refuse_zeros(const void* y, std::int64_t n) {
  const T* begin = static_cast<const T*>(y);
  if (std::find(begin, begin + n, T{0}) != begin + n) throw InvalidArgument("Integer division by zero");
}

template <class F, class T>
void bind_division(Bind& b) {
  BinaryLoops loops = binary_loops<F, T>();
  if constexpr (std::is_integral_v<T>) loops.check_y = refuse_zeros<T>;
  bind_loops(b, loops);
}

const KernelRegistration kDiv{"Div",
                              on<float, double, std::int8_t, std::int16_t, std::int32_t, std::int64_t,
                                 std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>,
                              []<class T>(Bind& b) { bind_division<Quotient, T>(b); },
                              {.in_place = true}};
const KernelRegistration kRealDiv{"RealDiv",
                                  on<float, double>,
                                  []<class T>(Bind& b) { bind_division<Quotient, T>(b); },
                                  {.in_place = true}};
const KernelRegistration kDivNoNan{"DivNoNan",
                                   on<float, double>,
                                   []<class T>(Bind& b) { bind_division<QuotientOrZero, T>(b); },
                                   {.in_place = true}};
const KernelRegistration kTruncateDiv{"TruncateDiv",
                                      on<float, double, std::int8_t, std::int16_t, std::int32_t, std::int64_t,
                                         std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>,
                                      []<class T>(Bind& b) { bind_division<CutQuotient, T>(b); },
                                      {.in_place = true}};
const KernelRegistration kFloorDiv{"FloorDiv",
                                   on<float, double, std::int8_t, std::int16_t, std::int32_t, std::int64_t,
                                      std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>,
                                   []<class T>(Bind& b) { bind_division<FloorQuotient, T>(b); },
                                   {.in_place = true}};
const KernelRegistration kFloorMod{"FloorMod",
                                   on<float, double, std::int8_t, std::int16_t, std::int32_t, std::int64_t,
                                      std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>,
                                   []<class T>(Bind& b) { bind_division<FloorRemainder, T>(b); },
                                   {.in_place = true}};

}  // namespace
}  // namespace runnel
