// How two tensors meet elementwise under NumPy's broadcasting: neighbouring dimensions that behave alike are
// joined, so that nearly all cases become one loop over equal arrays, or over an array and a number. What is
// left is a loop over rows, each of them again one of these loops. Worked out once when a kernel is bound.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "graph/shape.h"

namespace runnel {

// A value type, made from two known shapes that broadcast (the shape function has seen to that).
class Stretch {
 public:
  // Of a row: both sides advance, or one of them stays at one element.
  enum class Kind { kBoth, kLeftStays, kRightStays };

  // Neighbouring rows that lie evenly: elements a row, and from one row to the next.
  struct Rows {
    std::int64_t n = 0, rows = 1;
    std::int64_t x_step = 0, y_step = 0;
  };

  Stretch(const Shape& x, const Shape& y);

  std::int64_t elements() const { return rows_ * row_; }  // of the result
  std::int64_t rows() const { return rows_; }
  std::int64_t row() const { return row_; }  // elements a row
  Kind kind() const { return kind_; }

  // True if all rows lie evenly: all_rows().
  bool is_flat() const { return outer_ <= 1; }
  // Requires: is_flat().
  Rows all_rows() const { return {row_, rows_, x_stride_[0], y_stride_[0]}; }

  // Calls f(x offset, y offset, result offset, Rows) for the rows [begin, end), as many at once as lie
  // evenly.
  template <class F>
  void for_rows(std::int64_t begin, std::int64_t end, F&& f) const {
    std::array<std::int64_t, kMaxDims> at{};
    std::int64_t x = 0, y = 0;
    start(begin, at, x, y);
    const auto last = static_cast<std::size_t>(outer_ > 0 ? outer_ - 1 : 0);
    for (std::int64_t row = begin; row < end;) {
      const std::int64_t rows = outer_ > 0 ? std::min(end - row, size_[last] - at[last]) : 1;
      f(x, y, row * row_, Rows{row_, rows, x_stride_[last], y_stride_[last]});
      row += rows;
      std::int64_t step = rows;
      for (int d = outer_ - 1; d >= 0; --d, step = 1) {
        const auto i = static_cast<std::size_t>(d);
        x += x_stride_[i] * step;
        y += y_stride_[i] * step;
        at[i] += step;
        if (at[i] < size_[i]) break;
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
