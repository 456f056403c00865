// Max, Min, Prod, All and Any along axes. NaN wins; the extreme of nothing is the far end of the type.
#include <limits>
#include <type_traits>

#include "kernels/math/elementwise.h"
#include "kernels/math/reduce.h"

namespace runnel {
namespace {

struct AsItIs {
  template <class T>
  static T finish(T x, std::int64_t) {
    return x;
  }
};
struct Largest : AsItIs {
  template <class T>
  static T identity() {
    if constexpr (std::is_floating_point_v<T>)
      return -std::numeric_limits<T>::infinity();
    else
      return std::numeric_limits<T>::min();
  }
  template <class T>
  static T combine(T a, T b) {
    if constexpr (std::is_floating_point_v<T>)
      return a != a ? a : b > a || b != b ? b : a;
    else
      return b > a ? b : a;
  }
};
struct Smallest : AsItIs {
  template <class T>
  static T identity() {
    if constexpr (std::is_floating_point_v<T>)
      return std::numeric_limits<T>::infinity();
    else
      return std::numeric_limits<T>::max();
  }
  template <class T>
  static T combine(T a, T b) {
    if constexpr (std::is_floating_point_v<T>)
      return a != a ? a : b < a || b != b ? b : a;
    else
      return b < a ? b : a;
  }
};
struct Product : AsItIs {
  template <class T>
  static T identity() {
    return 1;
  }
  template <class T>
  static T combine(T a, T b) {
    return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
  }
};
struct Every : AsItIs {
  template <class T>
  static T identity() {
    return true;
  }
  template <class T>
  static T combine(T a, T b) {
    return a && b;
  }
};
struct Some : AsItIs {
  template <class T>
  static T identity() {
    return false;
  }
  template <class T>
  static T combine(T a, T b) {
    return a || b;
  }
};

constexpr auto kNumbers = on<float, double, std::int8_t, std::int16_t, std::int32_t, std::int64_t,
                             std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>;

const KernelRegistration kMax{"Max", kNumbers, []<class T>(Bind& b) { bind_reduction<Fold<Largest, T>>(b); }};
const KernelRegistration kMin{"Min", kNumbers,
                              []<class T>(Bind& b) { bind_reduction<Fold<Smallest, T>>(b); }};
const KernelRegistration kProd{"Prod", kNumbers,
                               []<class T>(Bind& b) { bind_reduction<Fold<Product, T>>(b); }};
const KernelRegistration kAll{"All", any, [](Bind& b) { bind_reduction<Fold<Every, bool>>(b); }};
const KernelRegistration kAny{"Any", any, [](Bind& b) { bind_reduction<Fold<Some, bool>>(b); }};

}  // namespace
}  // namespace runnel
