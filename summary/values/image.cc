// TensorFlow multiplies and adds in the tensor's own type: a half is rounded after each. The extremes are
// taken as floats, whatever the type.
#include "summary/values/image.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "graph/error.h"
#include "graph/float16.h"

namespace runnel {
namespace {

constexpr float kNothing = 1e-6f;  // a picture whose largest magnitude is below is all zero

float number(float value) { return value; }
double number(double value) { return value; }
float number(Half value) { return static_cast<float>(value_of(value)); }

// What T holds of a result.
template <class T, class Number>
Number rounded(Number value) {
  if constexpr (std::is_same_v<T, Half>)
    return number(nearest_half(value));
  else
    return value;
}

template <class T>
bool is_finite(const T* pixel, int channels) {
  return std::all_of(pixel, pixel + channels, [](T value) { return std::isfinite(number(value)); });
}

// Calls `pixel(index of its first channel)` for each pixel whose channels are finite, else `bad(the same)`.
template <class T, class Pixel, class Bad>
void each_pixel(std::span<const T> values, int channels, Pixel pixel, Bad bad) {
  for (std::size_t i = 0; i < values.size(); i += static_cast<std::size_t>(channels))
    is_finite(&values[i], channels) ? pixel(i) : bad(i);
}

// A pixel is number * scale + offset, cut to an integer.
struct Scale {
  float scale = 0, offset = 0;
};

template <class T>
Scale scale_of(std::span<const T> values, int channels) {
  float low = std::numeric_limits<float>::infinity(), high = -low;
  const auto widen = [&](std::size_t i) {
    for (std::size_t k = i; k < i + static_cast<std::size_t>(channels); ++k) {
      low = std::min(low, static_cast<float>(number(values[k])));
      high = std::max(high, static_cast<float>(number(values[k])));
    }
  };
  each_pixel(values, channels, widen, [](std::size_t) {});
  const bool both_signs = low < 0;
  const float largest = both_signs ? std::max(-low, std::abs(high)) : high;
  const float scale = largest < kNothing ? 0.0f : (both_signs ? 127.0f : 255.0f) / largest;
  return {scale, both_signs ? 128.0f : 0.0f};
}

template <class Number>
std::uint8_t cut(Number value) {
  return value >= 0 && value < 256 ? static_cast<std::uint8_t>(value)
                                   : 0;  // not if a half's scale is infinite
}

// How a value becomes a pixel, by its own range.
template <class T>
auto stretched(std::span<const T> values, int channels) {
  const Scale found = scale_of(values, channels);
  using Number = decltype(number(T()));
  const Number scale = rounded<T, Number>(found.scale), offset = found.offset;
  return [scale, offset](T value) {
    return cut(rounded<T, Number>(rounded<T, Number>(number(value) * scale) + offset));
  };
}

// And by a stated one: to the nearest pixel.
auto ranged(PixelRange range) {
  check_range(range);
  return [low = range.low, width = range.high - range.low](auto value) {
    const double part = (static_cast<double>(number(value)) - low) / width;
    return static_cast<std::uint8_t>(std::clamp(part, 0.0, 1.0) * 255.0 + 0.5);
  };
}

template <class T, class ToPixel>
std::vector<std::uint8_t> converted(std::span<const T> values, int channels,
                                    std::span<const std::uint8_t> bad_color, ToPixel to_pixel) {
  std::vector<std::uint8_t> out(values.size());
  const auto count = static_cast<std::size_t>(channels);
  each_pixel(
      values, channels,
      [&](std::size_t i) {
        for (std::size_t k = i; k < i + count; ++k) out[k] = to_pixel(values[k]);
      },
      [&](std::size_t i) {
        std::copy_n(bad_color.begin(), count, out.begin() + static_cast<std::ptrdiff_t>(i));
      });
  return out;
}

template <class T>
std::vector<std::uint8_t> pixels(std::span<const T> values, int channels,
                                 std::span<const std::uint8_t> bad_color, std::optional<PixelRange> range) {
  return range ? converted(values, channels, bad_color, ranged(*range))
               : converted(values, channels, bad_color, stretched(values, channels));
}

}  // namespace

void check_range(PixelRange range) {
  if (!(range.low < range.high) || !std::isfinite(range.high - range.low))
    throw InvalidArgument(cat("the range ", range.low, " to ", range.high,
                              " is empty or not finite; give the values that become 0 and 255"));
}

std::vector<std::uint8_t> pixels_of(std::span<const float> values, int channels,
                                    std::span<const std::uint8_t> bad_color,
                                    std::optional<PixelRange> range) {
  return pixels(values, channels, bad_color, range);
}
std::vector<std::uint8_t> pixels_of(std::span<const double> values, int channels,
                                    std::span<const std::uint8_t> bad_color,
                                    std::optional<PixelRange> range) {
  return pixels(values, channels, bad_color, range);
}
std::vector<std::uint8_t> pixels_of(std::span<const Half> values, int channels,
                                    std::span<const std::uint8_t> bad_color,
                                    std::optional<PixelRange> range) {
  return pixels(values, channels, bad_color, range);
}

}  // namespace runnel
