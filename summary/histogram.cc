// The limits are made by repeated multiplication, as TensorFlow makes them, since rounding decides where a
// value lands. A bucket is found without a search: the exponent and the first four fraction bits of a double
// name one of 16 slices of an octave; a slice is narrower than the step between two limits, so it holds at
// most one limit, and one comparison settles the rest.
#include "summary/histogram.h"

#include <algorithm>
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

void require_buckets(const Histogram& h) {
  if (h.limits.empty() || h.limits.size() != h.counts.size())
    throw InvalidArgument(cat(h.counts.size(), " counts have ", h.limits.size(), " limits"));
  for (std::size_t i = 0; i < h.limits.size(); ++i) {
    if (std::isnan(h.limits[i]) || (i > 0 && h.limits[i] <= h.limits[i - 1]))
      throw InvalidArgument(cat("limit ", i, " is ", h.limits[i], "; limits must ascend"));
    if (!std::isfinite(h.counts[i]) || h.counts[i] < 0)
      throw InvalidArgument(cat("count ", i, " is ", h.counts[i]));
  }
}

Histogram histogram_of_buckets(std::span<const double> limits, std::span<const double> counts) {
  Histogram out;
  out.limits.assign(limits.begin(), limits.end());
  out.counts.assign(counts.begin(), counts.end());
  require_buckets(out);
  out.min = kLargest;
  out.max = -kLargest;
  for (std::size_t i = 0; i < limits.size(); ++i) {
    if (counts[i] == 0) continue;
    const double upper = std::min(limits[i], kLargest);
    const double lower = i > 0 ? std::max(limits[i - 1], -kLargest) : upper;
    const double middle = upper == kLargest ? lower : lower == -kLargest ? upper : lower / 2 + upper / 2;
    out.min = std::min(out.min, lower);
    out.max = std::max(out.max, upper);
    out.num += counts[i];
    out.sum += counts[i] * middle;
    out.sum_squares += counts[i] * middle * middle;
  }
  return out;
}

std::string left_out(const Histogram& h) {
  return cat(h.nans, " NaN, ", h.positive_infinities, " +Inf, ", h.negative_infinities, " -Inf");
}

}  // namespace runnel
