// Tensors as pictures: numbers become 8-bit pixels, either stretched over the range they have themselves, as
// TensorFlow's ImageSummary does (bit for bit, in the arithmetic of each dtype), or from a stated range, so
// that pictures can be compared with each other. Source: formats 7.3.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "graph/dtype.h"

namespace runnel {

// The numbers that become 0 and 255; those beyond are cut off.
struct PixelRange {
  double low = 0;
  double high = 1;
};

// Throws InvalidArgument for a range that is empty or not finite.
void check_range(PixelRange range);

// The pixels of one picture whose `values` are given as pixels are: channels side by side. Without a range
// they are multiplied so that the largest becomes 255; or, if one is negative, so that the largest magnitude
// becomes 127, and 0 becomes 128. A pixel with a channel that is not finite gets `bad_color` and does not
// count for the range. Throws what check_range throws. Requires: whole pixels
// of `channels`, as many bytes of bad_color or more.
std::vector<std::uint8_t> pixels_of(std::span<const float> values, int channels,
                                    std::span<const std::uint8_t> bad_color,
                                    std::optional<PixelRange> range = std::nullopt);
std::vector<std::uint8_t> pixels_of(std::span<const double> values, int channels,
                                    std::span<const std::uint8_t> bad_color,
                                    std::optional<PixelRange> range = std::nullopt);
std::vector<std::uint8_t> pixels_of(std::span<const Half> values, int channels,
                                    std::span<const std::uint8_t> bad_color,
                                    std::optional<PixelRange> range = std::nullopt);

}  // namespace runnel
