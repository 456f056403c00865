// Histograms against TensorFlow's own (golden/histograms), against a plain search for the bucket, and case by
// case where TensorFlow refuses or crashes.
#include "summary/values/histogram.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "graph/error.h"
#include "graph/runtime/float_state.h"
#include "summary/values/value.h"
#include "tests/summary/golden_json.h"

using namespace runnel;

namespace {

constexpr double kMax = std::numeric_limits<double>::max();

std::vector<double> inputs(const Json& entry) {
  if (!has_field(entry, "formula")) return numbers(field(entry, "values"));
  std::vector<double> out;
  for (int k = 0; k < 1000; ++k) out.push_back(((k * 7919) % 10007 - 5003) / 1000.0);
  return out;
}

Histogram of(std::vector<double> values) { return histogram_of(std::span<const double>(values)); }

std::uint64_t bits(double value) { return std::bit_cast<std::uint64_t>(value); }

void check_same(const Histogram& got, const Histogram& want) {
  CHECK(bits(got.min) == bits(want.min));
  CHECK(bits(got.max) == bits(want.max));
  CHECK(got.num == want.num);
  CHECK(bits(got.sum) == bits(want.sum));
  CHECK(bits(got.sum_squares) == bits(want.sum_squares));
  CHECK(got.limits == want.limits);
  CHECK(got.counts == want.counts);
  CHECK(left_out(got) == left_out(want));
}

}  // namespace

TEST_CASE("histograms equal TensorFlow's bit for bit") {
  const Json all = golden_json("histograms/histograms.json");
  int cases = 0;
  for (const auto& [name, entry] : all.struct_value().fields()) {
    if (name == "refused") continue;
    const auto& this_name = name;  // clang 14 captures no structured binding
    CAPTURE(this_name);
    std::vector<double> values = inputs(entry);
    // A session flushes float denormals to zero before they are summed; here nobody does.
    if (name == "f32_limits") values.back() = 0;
    const Json& want = field(entry, "histo");
    const Histogram got = of(values);
    CHECK(got.min == number(field(want, "min")));
    CHECK(got.max == number(field(want, "max")));
    CHECK(got.num == number(field(want, "num")));
    CHECK(got.sum == number(field(want, "sum")));
    CHECK(got.sum_squares == number(field(want, "sum_squares")));
    CHECK(got.limits == numbers(field(want, "bucket_limit")));
    CHECK(got.counts == numbers(field(want, "bucket")));
    CHECK(histogram_value("h", got).size() == number(field(entry, "wire_bytes")));
    ++cases;
  }
  CHECK(cases == 19);
}

TEST_CASE("the limits are 1551, mirrored around zero") {
  const auto limits = histogram_limits();
  REQUIRE(limits.size() == 1551);
  CHECK(std::is_sorted(limits.begin(), limits.end()));
  for (std::size_t i = 0; i < limits.size(); ++i) CHECK(limits[i] == -limits[1550 - i]);
  CHECK(limits[1549] == 9.920775621859783e19);
}

TEST_CASE("every value lands where a search for the first larger limit puts it") {
  std::mt19937_64 random(5);
  std::vector<double> values(histogram_limits().begin(), histogram_limits().end());
  for (const double limit : histogram_limits()) {
    values.push_back(std::nextafter(limit, -kMax));
    values.push_back(std::nextafter(limit, kMax));
  }
  for (int i = 0; i < 20000; ++i) values.push_back(std::bit_cast<double>(random()));  // any bits at all
  for (int i = 0; i < 20000; ++i)
    values.push_back(std::ldexp(1.0 + 1e-16 * random(), static_cast<int>(random() % 110) - 41));
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    const auto limits = histogram_limits();
    const auto found = std::min(std::upper_bound(limits.begin(), limits.end(), value), limits.end() - 1);
    const Histogram got = of({value});
    const auto bucket = std::find(got.counts.begin(), got.counts.end(), 1.0) - got.counts.begin();
    if (got.limits[bucket] != *found)
      FAIL_CHECK(value << " is under " << got.limits[bucket] << ", not " << *found);
  }
}

TEST_CASE("floats are counted as the same numbers in doubles are, to the last bit") {
  std::mt19937 random(7);
  std::vector<float> values = {0.0f, -0.0f};
  for (const double limit : histogram_limits())
    for (const float end : {-INFINITY, INFINITY}) {
      const auto near = static_cast<float>(limit);
      values.insert(values.end(), {near, std::nextafter(near, end)});
    }
  for (int i = 0; i < 50'000; ++i)
    values.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(random())));
  std::shuffle(values.begin(), values.end(), random);
  for (const std::size_t count : {values.size(), std::size_t{1025}, std::size_t{1024}, std::size_t{7}}) {
    CAPTURE(count);
    const std::span<const float> some = std::span(values).first(count);
    HistogramBuilder builder;
    for (const float value : some) builder.add(value);
    check_same(histogram_of(some), builder.finish());
  }
}

TEST_CASE("of zeros with and without a sign the first is the least and the largest") {
  for (const std::vector<float>& values :
       {std::vector<float>{0.0f, -0.0f}, {-0.0f, 0.0f}, {NAN, -0.0f, 0.0f, 1.0f}}) {
    HistogramBuilder builder;
    for (const float value : values) builder.add(value);
    check_same(histogram_of(std::span<const float>(values)), builder.finish());
  }
}

TEST_CASE("within a step, which takes denormals for zero, floats are counted as one by one, too") {
  const FloatState step;
  const float tiny = std::bit_cast<float>(1), small = std::bit_cast<float>(0x7fffffu);
  for (const std::vector<float>& values : {std::vector<float>{tiny, small},
                                           {-tiny, 1.0f},
                                           {0.0f, -small},
                                           {-small, 0.0f, -1.0f},
                                           {small, -2.0f}}) {
    HistogramBuilder builder;
    for (const float value : values) builder.add(value);
    check_same(histogram_of(std::span<const float>(values)), builder.finish());
  }
}

TEST_CASE("ready buckets give extremes and sums as if values lay in the middle") {
  const std::vector<double> limits = {-1, 0, 2, 3}, counts = {0, 1, 3, 0};
  const Histogram h = histogram_of_buckets(limits, counts);
  CHECK(h.num == 4);
  CHECK(h.min == -1);
  CHECK(h.max == 2);
  CHECK(h.sum == 2.5);
  CHECK(h.sum_squares == 3.25);
  CHECK(h.limits == limits);
  CHECK(h.counts == counts);
  CHECK(histogram_of_buckets(std::vector<double>{5}, std::vector<double>{0}).min == kMax);
}

TEST_CASE("buckets that are none are refused by place") {
  const auto refused = [](std::vector<double> limits, std::vector<double> counts, const char* why) {
    CHECK_THROWS_WITH_AS(histogram_of_buckets(limits, counts), why, InvalidArgument);
  };
  refused({}, {}, "0 counts have 0 limits");
  refused({1, 2}, {1}, "1 counts have 2 limits");
  refused({1, 1}, {1, 1}, "limit 1 is 1; limits must ascend");
  refused({std::nan("")}, {1}, "limit 0 is nan; limits must ascend");
  refused({1}, {-1}, "count 0 is -1");
}

TEST_CASE("equal values fill one bucket between two empty ones") {
  CHECK(of({0, 0, 0, 0}).limits == std::vector<double>{0, 1e-12, kMax});
  CHECK(of({0, 0, 0, 0}).counts == std::vector<double>{0, 4, 0});
  CHECK(of({1}).limits == std::vector<double>{0.917246389039776, 1.0089710279437536, kMax});
  CHECK(of({-1, 0, 1}).limits == std::vector<double>{-1.0089710279437536, -0.917246389039776, 0, 1e-12,
                                                     0.917246389039776, 1.0089710279437536, kMax});
  CHECK(of({-1, 0, 1}).counts == std::vector<double>{0, 1, 0, 1, 0, 1, 0});
}

TEST_CASE("the largest double lands in the last bucket") {
  const Histogram h = of({kMax});
  CHECK(h.limits.back() == kMax);
  CHECK(h.counts.back() == 1);
  CHECK(h.max == kMax);
}

TEST_CASE("NaN and infinities are counted beside the finite values") {
  const double inf = std::numeric_limits<double>::infinity();
  const Histogram h = of({1, 2, std::nan(""), inf, -inf});
  CHECK(h.num == 2);
  CHECK(h.min == 1);
  CHECK(h.max == 2);
  CHECK(h.sum == 3);
  CHECK(h.sum_squares == 5);
  CHECK_FALSE(h.all_finite());
  CHECK(left_out(h) == "1 NaN, 1 +Inf, 1 -Inf");
}

TEST_CASE("only NaN gives the histogram of nothing") {
  const Histogram h = of({std::nan(""), std::nan("")});
  CHECK(h.nans == 2);
  CHECK(h.num == 0);
  CHECK(h.counts == of({}).counts);
  CHECK(h.min == kMax);
}

TEST_CASE("a scalar's bytes are TensorFlow's") {
  CHECK(scalar_value("loss", 1.5f) == std::string("\x0a\x0b\x0a\x04loss\x15\x00\x00\xc0\x3f", 13));
}
