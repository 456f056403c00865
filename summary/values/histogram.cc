// The limits are made by repeated multiplication, as TensorFlow makes them, since rounding decides where a
// value lands. A bucket is found without a search: the exponent and the first four fraction bits of a double
// name one of 16 slices of an octave; a slice is narrower than the step between two limits, so it holds at
// most one limit, and one comparison settles the rest. For floats, slices of both signs are in one table, so
// that nothing branches, and extremes are found by integers in the same order, many at once; the sums, one
// after another as TensorFlow takes them, are what takes the time.
#include "summary/values/histogram.h"

#include <algorithm>
#include <array>
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

// A slice of the floats: those with the same sign, exponent and first four fraction bits.
constexpr int kFloatSliceShift = 19;
struct FloatSlice {
  float limit;           // within it, or at its upper end; beyond all floats if there is none
  std::uint32_t bucket;  // of values below that
};

std::uint32_t slice_of(float value) { return std::bit_cast<std::uint32_t>(value) >> kFloatSliceShift; }

// The smallest float that is not below `limit`.
float float_from(double limit) {
  const auto near = static_cast<float>(limit);
  return near < limit ? std::nextafter(near, std::numeric_limits<float>::infinity()) : near;
}

FloatSlice float_slice(std::uint32_t slice) {
  constexpr float kNone = std::numeric_limits<float>::infinity();
  const std::uint32_t first = slice << kFloatSliceShift;
  const std::uint32_t last = first | ((std::uint32_t{1} << kFloatSliceShift) - 1);
  const auto a = std::bit_cast<float>(first), b = std::bit_cast<float>(last);
  if (!std::isfinite(a)) return {kNone, 0};  // never asked for
  const auto bucket = [](float value) { return static_cast<std::uint32_t>(limits().bucket_of(value)); };
  // Denormals, and zeros: this may run within a step, and what it returns must do within one and outside.
  if ((first & 0x7f800000) == 0)
    return first >> 31 ? FloatSlice{0, bucket(0) - 1} : FloatSlice{kNone, bucket(0)};
  const std::uint32_t low = bucket(std::min(a, b)), high = bucket(std::max(a, b));
  return {low == high ? kNone : float_from(limits().all[low]), low};
}

const std::vector<FloatSlice>& float_slices() {
  static const std::vector<FloatSlice> slices = [] {
    std::vector<FloatSlice> out;
    for (std::uint32_t slice = 0; slice < std::uint32_t{1} << (32 - kFloatSliceShift); ++slice)
      out.push_back(float_slice(slice));
    return out;
  }();
  return slices;
}

// Integers in the order of the floats: from NaN with a sign over -inf, numbers and +inf to NaN.
std::int32_t order_of(float value) {
  const auto bits = std::bit_cast<std::int32_t>(value);
  return bits ^ ((bits >> 31) & 0x7fffffff);
}
float float_of(std::int32_t order) { return std::bit_cast<float>(order ^ ((order >> 31) & 0x7fffffff)); }

struct Extremes {
  std::int32_t least = std::numeric_limits<std::int32_t>::max();
  std::int32_t most = std::numeric_limits<std::int32_t>::min();

  static Extremes of(std::span<const float> values) {
    Extremes out;
    for (const float value : values) {
      out.least = std::min(out.least, order_of(value));
      out.most = std::max(out.most, order_of(value));
    }
    return out;
  }
  void join(const Extremes& other) {
    least = std::min(least, other.least);
    most = std::max(most, other.most);
  }
  bool all_finite() const {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    return least > order_of(-kInfinity) && most < order_of(kInfinity);
  }
};

// Counts finite values, neighbours in different places: they often fall into one bucket.
struct FloatCounts {
  std::vector<std::uint64_t> even = std::vector<std::uint64_t>(limits().all.size());
  std::vector<std::uint64_t> odd = even;
  double sum = 0, sum_squares = 0;

  void add(std::span<const float> values) {
    const FloatSlice* const slices = float_slices().data();
    const auto count = [slices](std::uint64_t* counts, float value) {
      const FloatSlice slice = slices[slice_of(value)];
      ++counts[slice.bucket + (value >= slice.limit)];
    };
    double total = sum, squares = sum_squares;
    const auto take = [&](float value) {
      const double wide = value;
      total += wide;
      squares += wide * wide;
    };
    std::size_t i = 0;
    for (; i + 2 <= values.size(); i += 2) {
      count(even.data(), values[i]);
      count(odd.data(), values[i + 1]);
      take(values[i]);
      take(values[i + 1]);
    }
    for (; i < values.size(); ++i) {
      count(even.data(), values[i]);
      take(values[i]);
    }
    sum = total;
    sum_squares = squares;
  }
};

// Extremes are the first of equal values: a zero with its sign.
double extreme(std::int32_t order, std::span<const float> values) {
  const float value = float_of(order);
  return value == 0 ? *std::find(values.begin(), values.end(), 0.0f) : value;
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

Histogram histogram_of(std::span<const float> values) {
  constexpr std::size_t kTogether = 1024;  // values whose extremes show whether all are finite
  HistogramBuilder builder;
  FloatCounts counts;
  Extremes all;
  std::array<float, kTogether> kept;
  for (std::span<const float> rest = values; !rest.empty();) {
    std::span<const float> some = rest.first(std::min(kTogether, rest.size()));
    rest = rest.subspan(some.size());
    Extremes extremes = Extremes::of(some);
    if (!extremes.all_finite()) {
      std::size_t finite = 0;
      for (const float value : some)
        if (std::isfinite(value))
          kept[finite++] = value;
        else
          builder.add(value);
      some = std::span(kept).first(finite);
      extremes = Extremes::of(some);
    }
    all.join(extremes);
    counts.add(some);
    builder.totals_.num += static_cast<double>(some.size());
  }
  if (builder.totals_.num > 0) {
    builder.totals_.min = extreme(all.least, values);
    builder.totals_.max = extreme(all.most, values);
  }
  builder.totals_.sum = counts.sum;
  builder.totals_.sum_squares = counts.sum_squares;
  for (std::size_t i = 0; i < counts.even.size(); ++i)
    builder.counts_[i] = static_cast<double>(counts.even[i] + counts.odd[i]);
  return builder.finish();
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
