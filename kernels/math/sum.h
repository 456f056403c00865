// Sums of floating-point numbers in the order in which TensorFlow's CPU kernels add them (formats 10), so
// that losses come out equal to the last bit: packets of 32 bytes, four running packets when there are
// enough, the rest of a packet on its own. The order depends on the number of elements alone. Left out: pairs
// are added in plain order, without compensation.
#pragma once

#include <cstdint>

namespace runnel {

template <class T>
struct PacketSum {
  static constexpr std::int64_t kWidth = 32 / sizeof(T);
  typedef T Packet __attribute__((vector_size(32)));
  // The same anywhere in memory.
  typedef T Unaligned __attribute__((vector_size(32), aligned(alignof(T)), may_alias));

  // x[0] + ... + x[n-1].
  [[gnu::noinline]] static T contiguous(const T* x, std::int64_t n) {
    Packet sum{};
    std::int64_t i = 0;
    if (n >= 4 * kWidth) {
      Packet sum1{}, sum2{}, sum3{};
      for (; i + 4 * kWidth <= n; i += 4 * kWidth) {
        sum += *reinterpret_cast<const Unaligned*>(x + i);
        sum1 += *reinterpret_cast<const Unaligned*>(x + i + kWidth);
        sum2 += *reinterpret_cast<const Unaligned*>(x + i + 2 * kWidth);
        sum3 += *reinterpret_cast<const Unaligned*>(x + i + 3 * kWidth);
      }
      sum = ((sum + sum1) + sum2) + sum3;
    }
    for (; i + kWidth <= n; i += kWidth) sum += *reinterpret_cast<const Unaligned*>(x + i);
    T tail = 0;
    for (; i < n; ++i) tail += x[i];
    for (std::int64_t half = kWidth / 2; half > 0; half /= 2)
      for (std::int64_t k = 0; k < half; ++k) sum[k] += sum[k + half];
    return tail + sum[0];
  }

  // out[j] = sum over i of x[i * width + j], for the columns [begin, end). Requires: begin a multiple of
  // kWidth. Whole packets of columns are counted from column 0 of all `width`.
  [[gnu::noinline]] static void columns(const T* x, std::int64_t n, std::int64_t width, std::int64_t begin,
                                        std::int64_t end, T* out) {
    const std::int64_t whole = width / kWidth * kWidth;
    std::int64_t j = begin;
    for (; j < end && j < whole; j += kWidth) {
      const T* column = x + j;
      Packet sum{};
      std::int64_t i = 0;
      if (n >= 16) {
        Packet sum1{}, sum2{}, sum3{};
        for (; i + 4 <= n; i += 4) {
          sum += *reinterpret_cast<const Unaligned*>(column + i * width);
          sum1 += *reinterpret_cast<const Unaligned*>(column + (i + 1) * width);
          sum2 += *reinterpret_cast<const Unaligned*>(column + (i + 2) * width);
          sum3 += *reinterpret_cast<const Unaligned*>(column + (i + 3) * width);
        }
        sum = ((sum + sum1) + sum2) + sum3;
      }
      for (; i < n; ++i) sum += *reinterpret_cast<const Unaligned*>(column + i * width);
      *reinterpret_cast<Unaligned*>(out + j) = sum;
    }
    for (std::int64_t k = j; k < end; ++k) out[k] = 0;
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t k = j; k < end; ++k) out[k] += x[i * width + k];
  }
};

// Longer sums are cut at half, again and again, down to this many packets (TensorFlow's figure: 8192 floats,
// 4096 doubles).
inline constexpr std::int64_t kPacketsUncut = 1024;

// Where a sum of n elements is cut: at half, rounded up to whole packets; n itself if it is short enough.
inline std::int64_t sum_cut(std::int64_t n, std::int64_t packet) {
  if (n <= kPacketsUncut * packet) return n;
  return ((n + 1) / 2 + packet - 1) / packet * packet;
}

}  // namespace runnel
