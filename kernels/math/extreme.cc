// Maximum and Minimum of two tensors. NaN wins, from either side.
#include "kernels/math/elementwise.h"

namespace runnel {
namespace {

struct Larger {
  template <class T>
  static T apply(T x, T y) {
    if constexpr (std::is_floating_point_v<T>)
      return x != x ? x : y > x || y != y ? y : x;
    else
      return y > x ? y : x;
  }
};
struct Smaller {
  template <class T>
  static T apply(T x, T y) {
    if constexpr (std::is_floating_point_v<T>)
      return x != x ? x : y < x || y != y ? y : x;
    else
      return y < x ? y : x;
  }
};

const KernelRegistration kMaximum{"Maximum",
                                  on<float, double, std::int8_t, std::int16_t, std::int32_t, std::int64_t,
                                     std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>,
                                  []<class T>(Bind& b) { bind_binary<Larger, T>(b); },
                                  {.in_place = true}};
const KernelRegistration kMinimum{"Minimum",
                                  on<float, double, std::int8_t, std::int16_t, std::int32_t, std::int64_t,
                                     std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>,
                                  []<class T>(Bind& b) { bind_binary<Smaller, T>(b); },
                                  {.in_place = true}};

}  // namespace
}  // namespace runnel
