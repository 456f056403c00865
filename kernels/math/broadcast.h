// How two tensors meet elementwise under NumPy's broadcasting: neighbouring dimensions that behave alike are
// joined, so that nearly all cases become one loop over equal arrays, or over an array and a number. What is
// left is a loop over rows, each of them again one of these loops. Worked out once when a kernel is bound.
#pragma once

#include <array>
#include <cstdint>

#include "graph/shape.h"

namespace runnel {

// A value type, made from two known shapes that broadcast (the shape function has seen to that).
class Stretch {
 public:
  // Of a row: both sides advance, or one of them stays at one element.
  enum class Kind { kBoth, kLeftStays, kRightStays };

  Stretch(const Shape& x, const Shape& y);

  std::int64_t elements() const { return rows_ * row_; }  // of the result
  std::int64_t rows() const { return rows_; }
  std::int64_t row() const { return row_; }  // elements a row
  Kind kind() const { return kind_; }

  // Calls f(x offset, y offset, result offset) for the rows [begin, end).
  template <class F>
  void for_rows(std::int64_t begin, std::int64_t end, F&& f) const {
    std::array<std::int64_t, kMaxDims> at{};
    std::int64_t x = 0, y = 0;
    start(begin, at, x, y);
    for (std::int64_t row = begin; row < end; ++row) {
      f(x, y, row * row_);
      for (int d = outer_ - 1; d >= 0; --d) {
        const auto i = static_cast<std::size_t>(d);
        x += x_stride_[i];
        y += y_stride_[i];
        if (++at[i] < size_[i]) break;
        x -= x_stride_[i] * size_[i];
        y -= y_stride_[i] * size_[i];
        at[i] = 0;
      }
    }
  }

 private:
  static constexpr int kMaxDims = 16;  // after joining; more are refused

  void start(std::int64_t row, std::array<std::int64_t, kMaxDims>& at, std::int64_t& x,
             std::int64_t& y) const;

  std::int64_t rows_ = 1, row_ = 1;
  Kind kind_ = Kind::kBoth;
  int outer_ = 0;
  std::array<std::int64_t, kMaxDims> size_{}, x_stride_{}, y_stride_{};
};

}  // namespace runnel
