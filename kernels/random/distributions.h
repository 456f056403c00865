// Random words into numbers, bit by bit as TensorFlow does it (formats 9.3). One class a distribution and
// type: how many numbers a group has, and the group's numbers.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <tuple>
#include <utility>

#include "kernels/random/philox.h"

namespace runnel {

// Words become the fraction of a number in [1, 2), from which 1 is taken.
inline float unit(std::uint32_t x) { return std::bit_cast<float>(0x3F800000u | (x & 0x7FFFFFu)) - 1.0f; }
inline double unit(std::uint32_t x0, std::uint32_t x1) {
  return std::bit_cast<double>(0x3FF0000000000000u | std::uint64_t{x0 & 0xFFFFFu} << 32 | x1) - 1.0;
}

// Two independent normal numbers from two uniform ones (Box and Muller 1958). u1 is kept away from 0, where
// the logarithm has no value.
inline std::pair<float, float> normal_pair(std::uint32_t x0, std::uint32_t x1) {
  const float u1 = std::max(unit(x0), 1.0e-7f);
  const float angle = static_cast<float>(2.0 * std::numbers::pi * static_cast<double>(unit(x1)));
  const float radius = std::sqrt(-2.0f * std::log(u1));
  return {std::sin(angle) * radius, std::cos(angle) * radius};
}
inline std::pair<double, double> normal_pair(std::uint32_t x0, std::uint32_t x1, std::uint32_t x2,
                                             std::uint32_t x3) {
  const double u1 = std::max(unit(x0, x1), 1.0e-7);
  const double angle = 2.0 * std::numbers::pi * unit(x2, x3);
  const double radius = std::sqrt(-2.0 * std::log(u1));
  return {std::sin(angle) * radius, std::cos(angle) * radius};
}

template <class T>
struct Uniform;
template <>
struct Uniform<float> {
  static constexpr int kGroup = 4;
  static void fill(const Philox& stream, std::uint64_t group, float* out) {
    const PhiloxBlock x = stream.at(group);
    for (std::size_t i = 0; i < 4; ++i) out[i] = unit(x[i]);
  }
};
template <>
struct Uniform<double> {
  static constexpr int kGroup = 2;
  static void fill(const Philox& stream, std::uint64_t group, double* out) {
    const PhiloxBlock x = stream.at(group);
    out[0] = unit(x[0], x[1]);
    out[1] = unit(x[2], x[3]);
  }
};

template <class T>
struct Normal;
template <>
struct Normal<float> {
  static constexpr int kGroup = 4;
  static void fill(const Philox& stream, std::uint64_t group, float* out) {
    const PhiloxBlock x = stream.at(group);
    std::tie(out[0], out[1]) = normal_pair(x[0], x[1]);
    std::tie(out[2], out[3]) = normal_pair(x[2], x[3]);
  }
};
template <>
struct Normal<double> {
  static constexpr int kGroup = 2;
  static void fill(const Philox& stream, std::uint64_t group, double* out) {
    const PhiloxBlock x = stream.at(group);
    std::tie(out[0], out[1]) = normal_pair(x[0], x[1], x[2], x[3]);
  }
};

// Normal numbers of which those beyond two standard deviations are drawn again. Each group has so many blocks
// to itself that it never meets the next one's.
template <class T>
struct TruncatedNormal {
  static constexpr int kGroup = sizeof(T) == 8 ? 2 : 4;
  static void fill(const Philox& stream, std::uint64_t group, T* out) {
    PhiloxWords next(stream, group * (kBlocksPerNumber * kGroup / 4));
    for (int kept = 0; kept < kGroup;) {
      const auto [a, b] = pair(next);
      if (std::abs(a) < T(2)) out[kept++] = a;
      if (kept < kGroup && std::abs(b) < T(2)) out[kept++] = b;
    }
  }

 private:
  static std::pair<T, T> pair(PhiloxWords& next) {
    const std::uint32_t x0 = next(), x1 = next();
    if constexpr (sizeof(T) == 8) {
      const std::uint32_t x2 = next(), x3 = next();
      return normal_pair(x0, x1, x2, x3);
    } else {
      return normal_pair(x0, x1);
    }
  }
};

}  // namespace runnel
