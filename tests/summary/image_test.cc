// Numbers as pixels: TensorFlow's own (golden/summaries), cases worked by hand, and stated ranges.
#include "summary/values/image.h"

#include <doctest/doctest.h>

#include <cmath>

#include "graph/error.h"
#include "graph/float16.h"
#include "tests/summary/golden_json.h"

using namespace runnel;

namespace {

using Pixels = std::vector<std::uint8_t>;

const Pixels kRed = {255, 0, 0, 255};

template <class T = float>
Pixels grey(const std::vector<T>& values, std::optional<PixelRange> range = std::nullopt) {
  return pixels_of(std::span<const T>(values), 1, kRed, range);
}

// The golden values as pixels, in the arithmetic of T.
template <class T, class Make>
Pixels converted(const Json& input, Make make) {
  std::vector<T> values;
  for (const double value : numbers(field(input, "values"))) values.push_back(make(value));
  return pixels_of(std::span<const T>(values), static_cast<int>(numbers(field(input, "shape"))[3]), kRed);
}

Pixels converted(const Json& input) {
  const std::string& type = field(input, "dtype").string_value();
  if (type == "float16") return converted<Half>(input, [](double value) { return nearest_half(value); });
  if (type == "float64") return converted<double>(input, [](double value) { return value; });
  return converted<float>(input, [](double value) { return static_cast<float>(value); });
}

}  // namespace

TEST_CASE("float pictures have the pixels that TensorFlow gives them") {
  int compared = 0;
  const Json all = golden_json("summaries/summaries.json");
  for (const Json& entry : all.list_value().values()) {
    const Json& input = field(entry, "input");
    if (field(entry, "op").string_value() != "ImageSummary" || !input.has_struct_value()) continue;
    if (field(input, "dtype").string_value() == "uint8" || numbers(field(input, "shape"))[0] > 1) continue;
    CAPTURE(field(entry, "name").string_value());
    CHECK(hex(converted(input)) ==
          field(field(entry, "values").list_value().values(0), "pixels").string_value());
    ++compared;
  }
  CHECK(compared == 13);
}

TEST_CASE("the range of a picture is its largest magnitude, around 128 if there are negative numbers") {
  CHECK(grey({-1.0f, 0, 1}) == Pixels{1, 128, 255});
  CHECK(grey({-0.5f, 0, 1}) == Pixels{64, 128, 255});
  CHECK(grey({0, 0.5f, 1}) == Pixels{0, 127, 255});
  CHECK(grey({0, 1.0f, 2, 4}) == Pixels{0, 63, 127, 255});
  CHECK(grey({0.0f, 0}) == Pixels{0, 0});
  CHECK(grey<double>({0, 1e300}) == Pixels{0, 0});  // the extremes are floats: infinite, so the scale is 0
}

TEST_CASE("a pixel with a channel that is not finite is red and does not widen the range") {
  const std::vector<float> values = {NAN, 9, 9, 1, 0.5f, 0, 9, 9, -INFINITY};
  CHECK(pixels_of(std::span<const float>(values), 3, kRed) == Pixels{255, 0, 0, 255, 127, 0, 255, 0, 0});
  const std::vector<float> one = {NAN, 0, 0, 0};
  CHECK(pixels_of(std::span<const float>(one), 4, Pixels{1, 2, 3, 4}) == Pixels{1, 2, 3, 4});
}

TEST_CASE("halves are rounded after each operation, and too small ones are black as TensorFlow's") {
  const auto halves = [](std::vector<double> values) {
    std::vector<Half> out;
    for (const double value : values) out.push_back(nearest_half(value));
    return grey(out);
  };
  CHECK(halves({0, 0.1, 0.2, 0.7}) == Pixels{0, 36, 72, 255});
  CHECK(halves({0, 0.001, 0.0005}) == Pixels{0, 0, 0});  // 255 / 0.001 is more than a half holds
}

TEST_CASE("with a stated range a number has the same pixel whatever stands beside it") {
  CHECK(grey({0.5f, 0.0f}, PixelRange{0, 1}) == Pixels{128, 0});
  CHECK(grey({0.5f, 100.0f, -3.0f}, PixelRange{0, 1}) == Pixels{128, 255, 0});
  CHECK(grey<double>({-1, 0, 3, NAN}, PixelRange{-1, 3}) == Pixels{0, 64, 255, 255});
  CHECK(grey<float>({NAN, 0.25f, INFINITY}, PixelRange{0, 1}) == Pixels{255, 64, 255});
}

TEST_CASE("a range that is empty or not finite is refused") {
  CHECK_THROWS_WITH_AS(check_range({1, 1}),
                       "the range 1 to 1 is empty or not finite; give the values that become 0 and 255",
                       InvalidArgument);
  CHECK_THROWS_AS(check_range({2, 1}), InvalidArgument);
  CHECK_THROWS_AS(check_range({NAN, 1}), InvalidArgument);
  CHECK_THROWS_AS(grey({1.0f}, PixelRange{0, INFINITY}), InvalidArgument);
}
