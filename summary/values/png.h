// Pictures of 8-bit pixels as PNG files: a header, one stream that zlib deflates, an end. Source: the PNG
// specification (ISO/IEC 15948). Left out: palettes, interlacing, 16 bits a channel, text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace runnel {

struct ImageSize {
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t channels = 0;  // 1 grey, 3 red, green, blue, 4 the same with opacity
  bool operator==(const ImageSize&) const = default;
};

// A larger picture would not fit into an event.
inline constexpr std::int64_t kMaxImageBytes = std::int64_t{1} << 30;

// height * width * channels. Throws InvalidArgument for channels that no PNG has, an empty picture, and one
// of more than kMaxImageBytes.
std::size_t pixel_bytes(const ImageSize& size);

// The file. Pixels are rows from top to bottom, the channels of a pixel side by side. Throws InvalidArgument
// for a size that pixel_bytes refuses, or if there are not as many bytes.
std::string png_of(std::span<const std::uint8_t> pixels, const ImageSize& size);

}  // namespace runnel
