// The six comparisons and logic on bools.
#include <cstdint>

#include "kernels/math/elementwise.h"

namespace runnel {
namespace {

struct IsEqual {
  template <class T>
  static bool apply(const T& x, const T& y) {
    return x == y;
  }
};
struct IsNotEqual {
  template <class T>
  static bool apply(const T& x, const T& y) {
    return x != y;
  }
};
struct IsLess {
  template <class T>
  static bool apply(T x, T y) {
    return x < y;
  }
};
struct IsLessEqual {
  template <class T>
  static bool apply(T x, T y) {
    return x <= y;
  }
};
struct IsGreater {
  template <class T>
  static bool apply(T x, T y) {
    return x > y;
  }
};
struct IsGreaterEqual {
  template <class T>
  static bool apply(T x, T y) {
    return x >= y;
  }
};
struct Both {
  static bool apply(bool x, bool y) { return x & y; }
};
struct Either {
  static bool apply(bool x, bool y) { return x | y; }
};
struct Not {  // of a bool's byte: gcc makes vectors of that
  static std::uint8_t apply(std::uint8_t x) { return x == 0; }
};

constexpr auto kOrdered = on<float, double, std::int8_t, std::int16_t, std::int32_t, std::int64_t,
                             std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>;
constexpr auto kComparable = on<float, double, std::int8_t, std::int16_t, std::int32_t, std::int64_t,
                                std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t, bool, std::string>;

const KernelRegistration kEqual{"Equal", kComparable,
                                []<class T>(Bind& b) { bind_binary<IsEqual, T, bool>(b); }};
const KernelRegistration kNotEqual{"NotEqual", kComparable,
                                   []<class T>(Bind& b) { bind_binary<IsNotEqual, T, bool>(b); }};
const KernelRegistration kLess{"Less", kOrdered, []<class T>(Bind& b) { bind_binary<IsLess, T, bool>(b); }};
const KernelRegistration kLessEqual{"LessEqual", kOrdered,
                                    []<class T>(Bind& b) { bind_binary<IsLessEqual, T, bool>(b); }};
const KernelRegistration kGreater{"Greater", kOrdered,
                                  []<class T>(Bind& b) { bind_binary<IsGreater, T, bool>(b); }};
const KernelRegistration kGreaterEqual{"GreaterEqual", kOrdered,
                                       []<class T>(Bind& b) { bind_binary<IsGreaterEqual, T, bool>(b); }};

const KernelRegistration kLogicalAnd{
    "LogicalAnd", any, [](Bind& b) { bind_binary<Both, bool>(b); }, {.in_place = true}};
const KernelRegistration kLogicalOr{
    "LogicalOr", any, [](Bind& b) { bind_binary<Either, bool>(b); }, {.in_place = true}};
const KernelRegistration kLogicalNot{
    "LogicalNot", any, [](Bind& b) { bind_unary<Not, std::uint8_t>(b); }, {.in_place = true}};

}  // namespace
}  // namespace runnel
