// Histograms as TensorBoard draws them: counts under TensorFlow's 1551 fixed limits, which grow by a tenth
// from 1e-12 to 1e20 on both sides of zero, with extremes and sums. The numbers equal those of TensorFlow's
// HistogramSummary bit for bit; what TensorFlow refuses or cannot hold (NaN, infinities, the largest double)
// is counted instead. Source: formats 7.2. Other sets of limits are left out.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace runnel {

// What a HistogramProto holds, and beside it the values that fit no bucket.
struct Histogram {
  double min = 0, max = 0;  // of the finite values; the largest double and its negative if there are none
  double num = 0, sum = 0, sum_squares = 0;
  std::vector<double> limits;  // upper ends, ascending; a run of empty buckets is one, under its last limit
  std::vector<double> counts;  // as many as limits
  std::int64_t nans = 0, positive_infinities = 0, negative_infinities = 0;

  bool all_finite() const { return nans + positive_infinities + negative_infinities == 0; }
};

// Counts values one by one; sums are taken in that order. For one thread at a time.
class HistogramBuilder {
 public:
  HistogramBuilder();
  void add(double value);
  Histogram finish() const;

 private:
  friend Histogram histogram_of(std::span<const float>);

  Histogram totals_;
  std::vector<double> counts_;  // one a limit
};

// The histogram of all elements. T is any number that a double holds or rounds; floats are counted several
// times as fast as others.
Histogram histogram_of(std::span<const float> values);
template <class T>
Histogram histogram_of(std::span<const T> values) {
  HistogramBuilder builder;
  for (const T value : values) builder.add(static_cast<double>(value));
  return builder.finish();
}

// Values counted by somebody else: counts[i] of them below limits[i] and not below the limit before. The
// lower end of the first bucket is a limit of its own with a count of 0. Extremes and sums are estimated, as
// if the values of a bucket lay in its middle. Throws like require_buckets.
Histogram histogram_of_buckets(std::span<const double> limits, std::span<const double> counts);

// Throws InvalidArgument unless there are limits, as many counts, the limits ascend and the counts are finite
// and not negative.
void require_buckets(const Histogram& histogram);

// The 1551 limits, ascending; the last is the largest double.
std::span<const double> histogram_limits();

// "1 NaN, 2 +Inf, 3 -Inf": what the histogram left out.
std::string left_out(const Histogram& histogram);

}  // namespace runnel
