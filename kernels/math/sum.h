// Sums of floating-point numbers in the order in which TensorFlow's CPU kernels add them (formats 10), so
// that losses come out equal to the last bit: packets of 32 bytes, four running packets when there are
// enough, the rest of a packet on its own. The order depends on the number of elements alone. Left out: pairs
// are added in plain order, without compensation.
#pragma once

#include <cstdint>

namespace runnel {

// A packet as two registers of 16 bytes, which every target has: whole packets of 32 go through memory where
// registers are smaller.
template <class T>
struct Packet {
  static constexpr std::int64_t kHalf = 16 / sizeof(T);
  typedef T Half __attribute__((vector_size(16)));
  // The same anywhere in memory.
  typedef T Unaligned __attribute__((vector_size(16), aligned(alignof(T)), may_alias));

  static Packet load(const T* x) {
    return {*reinterpret_cast<const Unaligned*>(x), *reinterpret_cast<const Unaligned*>(x + kHalf)};
  }
  void store(T* x) const {
    *reinterpret_cast<Unaligned*>(x) = low;
    *reinterpret_cast<Unaligned*>(x + kHalf) = high;
  }
  Packet operator+(const Packet& other) const { return {low + other.low, high + other.high}; }
  void operator+=(const Packet& other) { *this = *this + other; }
  // The sum of all elements, by halves.
  T total() const {
    const Half sum = low + high;
    if constexpr (kHalf == 2)
      return sum[0] + sum[1];
    else
      return (sum[0] + sum[2]) + (sum[1] + sum[3]);
  }

  Half low{}, high{};
};

template <class T>
struct PacketSum {
  using P = Packet<T>;
  static constexpr std::int64_t kWidth = 2 * P::kHalf;

  // x[0] + ... + x[n-1].
  [[gnu::noinline]] static T contiguous(const T* x, std::int64_t n) {
    P sum;
    std::int64_t i = 0;
    if (n >= 4 * kWidth) {
      P sum1, sum2, sum3;
      for (; i + 4 * kWidth <= n; i += 4 * kWidth) {
        sum += P::load(x + i);
        sum1 += P::load(x + i + kWidth);
        sum2 += P::load(x + i + 2 * kWidth);
        sum3 += P::load(x + i + 3 * kWidth);
      }
      sum = ((sum + sum1) + sum2) + sum3;
    }
    for (; i + kWidth <= n; i += kWidth) sum += P::load(x + i);
    T tail = 0;
    for (; i < n; ++i) tail += x[i];
    return tail + sum.total();
  }

  // out[j] = sum over i of x[i * width + j], for the columns [begin, end). Requires: begin a multiple of
  // kWidth. Whole packets of columns are counted from column 0 of all `width`.
  [[gnu::noinline]] static void columns(const T* x, std::int64_t n, std::int64_t width, std::int64_t begin,
                                        std::int64_t end, T* out) {
    const std::int64_t whole = width / kWidth * kWidth;
    std::int64_t j = begin;
    for (; j < end && j < whole; j += kWidth) {
      const T* column = x + j;
      P sum;
      std::int64_t i = 0;
      if (n >= 16) {
        P sum1, sum2, sum3;
        for (; i + 4 <= n; i += 4) {
          sum += P::load(column + i * width);
          sum1 += P::load(column + (i + 1) * width);
          sum2 += P::load(column + (i + 2) * width);
          sum3 += P::load(column + (i + 3) * width);
        }
        sum = ((sum + sum1) + sum2) + sum3;
      }
      for (; i < n; ++i) sum += P::load(column + i * width);
      sum.store(out + j);
    }
    if (j < end) rest<kWidth - 1>(x + j, n, width, end - j, out + j);
  }

 private:
  // `count` columns less than a packet, their sums in registers.
  template <std::int64_t N>
  static void rest(const T* x, std::int64_t n, std::int64_t width, std::int64_t count, T* out) {
    if constexpr (N > 1)
      if (count < N) return rest<N - 1>(x, n, width, count, out);
    T sums[N] = {};
    for (std::int64_t i = 0; i < n; ++i, x += width)
      for (std::int64_t k = 0; k < N; ++k) sums[k] += x[k];
    for (std::int64_t k = 0; k < N; ++k) out[k] = sums[k];
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
