// The limits are made by repeated multiplication, as TensorFlow makes them, since rounding decides where a
// value lands. A bucket is found without a search: the exponent and the first four fraction bits of a double
// name one of 16 slices of an octave; a slice is narrower than the step between two limits, so it holds at
// most one limit, and one comparison settles the rest.
#include "summary/histogram.h"

#include <bit>
#include <cmath>
#include <limits>

#include "graph/error.h"

namespace runnel {
namespace {

constexpr double kSmallest = 1e-12, kEnd = 1e20, kGrowth = 1.1;
constexpr double kLargest = std::numeric_limits<double>::max();
constexpr int kSliceShift = 48;  // leaves sign, exponent and four fraction bits

std::uint64_t slice_of(double positive) { return std::bit_cast<std::uint64_t>(positive) >> kSliceShift; }

struct Limits {
  std::vector<double> all;            // 1551, ascending
  std::vector<double> positive;       // 774, without the largest double
  std::uint64_t first_slice = 0;      // the slice of the smallest positive limit
  std::vector<std::uint16_t> before;  // a slice: positive limits at or below its lower end

  Limits() {
    for (double v = kSmallest; v < kEnd; v *= kGrowth) positive.push_back(v);
    all.push_back(-kLargest);
    for (auto v = positive.rbegin(); v != positive.rend(); ++v) all.push_back(-*v);
    all.push_back(0.0);
    all.insert(all.end(), positive.begin(), positive.end());
    all.push_back(kLargest);
    first_slice = slice_of(kSmallest);
    std::size_t count = 0;
    for (std::uint64_t slice = first_slice; slice <= slice_of(positive.back()); ++slice) {
      const double lower = std::bit_cast<double>(slice << kSliceShift);
      while (count < positive.size() && positive[count] <= lower) ++count;
      before.push_back(static_cast<std::uint16_t>(count));
    }
  }

  // How many positive limits are <= value. Requires: value >= 0.
  std::size_t at_or_below(double value) const {
    if (value < kSmallest) return 0;
    if (value >= positive.back()) return positive.size();
    const std::size_t count = before[slice_of(value) - first_slice];
    return positive[count] <= value ? count + 1 : count;
  }

  // The first limit above `value`; the last one for the largest double. Requires: value is finite.
  std::size_t bucket_of(double value) const {
    const std::size_t zero = positive.size() + 1;  // index of the limit 0
    if (value >= 0) return zero + 1 + at_or_below(value);
    const std::size_t count = at_or_below(-value);  // -limit > value needs limit < -value
    return zero - (count > 0 && positive[count - 1] == -value ? count - 1 : count);
  }
};

const Limits& limits() {
  static const Limits limits;
  return limits;
}

}  // namespace

std::span<const double> histogram_limits() { return limits().all; }

HistogramBuilder::HistogramBuilder() : counts_(limits().all.size()) {
  totals_.min = kLargest;
  totals_.max = -kLargest;
}

void HistogramBuilder::add(double value) {
  if (!std::isfinite(value)) {
    ++(std::isnan(value) ? totals_.nans
       : value > 0       ? totals_.positive_infinities
                         : totals_.negative_infinities);
    return;
  }
  counts_[limits().bucket_of(value)] += 1.0;
  if (totals_.min > value) totals_.min = value;
  if (totals_.max < value) totals_.max = value;
  totals_.num += 1.0;
  totals_.sum += value;
  totals_.sum_squares += value * value;
}

Histogram HistogramBuilder::finish() const {
  Histogram out = totals_;
  const std::vector<double>& all = limits().all;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool continues = !out.counts.empty() && counts_[i] == 0 && out.counts.back() == 0;
    if (continues) {
      out.limits.back() = all[i];
    } else {
      out.limits.push_back(all[i]);
      out.counts.push_back(counts_[i]);
    }
  }
  return out;
}

std::string left_out(const Histogram& h) {
  return cat(h.nans, " NaN, ", h.positive_infinities, " +Inf, ", h.negative_infinities, " -Inf");
}

}  // namespace runnel
