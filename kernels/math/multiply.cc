// Sub, Mul, Square and SquaredDifference. Integers wrap around.
#include "kernels/math/elementwise.h"

namespace runnel {
namespace {

struct Minus {
  template <class T>
  static T apply(T x, T y) {
    return static_cast<T>(static_cast<Wrapping<T>>(x) - static_cast<Wrapping<T>>(y));
  }
};
struct Times {
  template <class T>
  static T apply(T x, T y) {
    return static_cast<T>(static_cast<Wrapping<T>>(x) * static_cast<Wrapping<T>>(y));
  }
};
struct Squared {
  template <class T>
  static T apply(T x) {
    return Times::apply(x, x);
  }
};
struct SquaredMinus {
  template <class T>
  static T apply(T x, T y) {
    return Squared::apply(Minus::apply(x, y));
  }
};

const KernelRegistration kSub{"Sub",
                              on<float, double, std::int8_t, std::int16_t, std::int32_t, std::int64_t,
                                 std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>,
                              []<class T>(Bind& b) { bind_binary<Minus, T>(b); },
                              {.in_place = true}};
const KernelRegistration kMul{"Mul",
                              on<float, double, std::int8_t, std::int16_t, std::int32_t, std::int64_t,
                                 std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>,
                              []<class T>(Bind& b) { bind_binary<Times, T>(b); },
                              {.in_place = true}};
const KernelRegistration kSquare{"Square",
                                 on<float, double, std::int8_t, std::int16_t, std::int32_t, std::int64_t,
                                    std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>,
                                 []<class T>(Bind& b) { bind_unary<Squared, T>(b); },
                                 {.in_place = true}};
const KernelRegistration kSquaredDifference{"SquaredDifference",
                                            on<float, double, std::int32_t, std::int64_t>,
                                            []<class T>(Bind& b) { bind_binary<SquaredMinus, T>(b); },
                                            {.in_place = true}};

}  // namespace
}  // namespace runnel
