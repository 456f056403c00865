// One row of softmax: the largest element, and exp(x - largest) with its sum. Sums run in a fixed order, so a
// row gives the same bits wherever it lies in memory and whichever thread takes it.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace runnel {

// e^x for x <= 0, within two units in the last place: x = n ln 2 + r, and a polynomial for e^r on |r| <=
// ln(2) / 2 (coefficients of Cephes' expf). Plain arithmetic, so that loops over it become vectors. NaN stays
// NaN.
inline float exp_of_negative(float x) {
  constexpr float kLowest = -87.33654f;  // below, e^x is no normal number, and 0 under the step's rounding
  const float bounded = x > kLowest ? x : kLowest;
  const auto n = static_cast<std::int32_t>(bounded * 1.44269504f - 0.5f);
  const float whole = static_cast<float>(n);
  const float kept = x < kLowest ? kLowest : x;  // NaN stays
  const float r = (kept - whole * 0.693359375f) - whole * -2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * (r * r) + r + 1.0f;
  // Chosen as a number, not by a branch around p: only so do loops become vectors.
  const std::int32_t scale = x < kLowest ? 0 : (n + 127) << 23;
  return p * std::bit_cast<float>(scale);
}
inline double exp_of_negative(double x) { return std::exp(x); }

template <class T>
T row_max(const T* x, std::int64_t n) {
  T most = x[0];
  for (std::int64_t i = 1; i < n; ++i) most = x[i] > most ? x[i] : most;
  return most;
}

template <class T>
T row_sum(const T* x, std::int64_t n) {
  T lanes[8] = {};
  std::int64_t i = 0;
  for (; i + 8 <= n; i += 8)
    for (int k = 0; k < 8; ++k) lanes[k] += x[i + k];
  T sum = T(0);
  for (; i < n; ++i) sum += x[i];
  return sum +
         (((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7])));
}

// Writes exp(x - largest) to y, which may be x, and returns its sum.
template <class T>
T exp_row(const T* x, T largest, T* y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) y[i] = exp_of_negative(x[i] - largest);
  return row_sum(y, n);
}

// The sum of exp(x - largest) with no place to keep them.
template <class T>
T exp_sum(const T* x, T largest, std::int64_t n) {
  T kept[64];
  T sum = T(0);
  for (std::int64_t i = 0; i < n; i += 64) sum += exp_row(x + i, largest, kept, n - i < 64 ? n - i : 64);
  return sum;
}

}  // namespace runnel
