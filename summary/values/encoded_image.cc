// A PNG states its size at a fixed place; a JPEG in the segment that begins a frame, which others precede.
#include "summary/values/encoded_image.h"

#include <cstdint>
#include <optional>

#include "graph/error.h"

namespace runnel {
namespace {

constexpr std::string_view kPngStart("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16), kJpegStart("\xff\xd8\xff", 3);
constexpr std::size_t kPngHeaderEnd = 33;

std::int64_t number(std::string_view file, std::size_t at, std::size_t bytes) {
  std::int64_t out = 0;
  for (std::size_t i = at; i < at + bytes; ++i) out = out << 8 | static_cast<unsigned char>(file[i]);
  return out;
}

std::optional<ImageSize> png_size(std::string_view file) {
  if (file.size() < kPngHeaderEnd) return std::nullopt;
  const std::int64_t colour = number(file, 25, 1);
  // Grey, RGB, a palette of RGB, grey with opacity, RGBA.
  const int channels = colour == 0                  ? 1
                       : colour == 2 || colour == 3 ? 3
                       : colour == 4                ? 2
                       : colour == 6                ? 4
                                                    : 0;
  return ImageSize{.height = number(file, 20, 4), .width = number(file, 16, 4), .channels = channels};
}

// SOF0 to SOF15 without the three of these numbers that mean other segments.
bool begins_frame(std::int64_t marker) {
  return marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
}

std::optional<ImageSize> jpeg_size(std::string_view file) {
  std::size_t at = 2;
  while (at + 10 <= file.size() && number(file, at, 1) == 0xff) {
    const std::int64_t marker = number(file, at + 1, 1);
    if (marker == 0xff) {  // filling
      ++at;
    } else if (begins_frame(marker)) {
      return ImageSize{.height = number(file, at + 5, 2),
                       .width = number(file, at + 7, 2),
                       .channels = number(file, at + 9, 1)};
    } else {
      const std::int64_t length = number(file, at + 2, 2);
      if (length < 2) return std::nullopt;
      at += 2 + static_cast<std::size_t>(length);
    }
  }
  return std::nullopt;
}

}  // namespace

ImageSize encoded_image_size(std::string_view file) {
  const bool png = file.starts_with(kPngStart);
  if (!png && !file.starts_with(kJpegStart))
    throw InvalidArgument(cat("these ", file.size(),
                              " bytes are neither a PNG nor a JPEG file; give pixels to image() instead"));
  const std::optional<ImageSize> size = png ? png_size(file) : jpeg_size(file);
  constexpr std::int64_t kLargest = (std::int64_t{1} << 31) - 1;
  if (!size || size->height < 1 || size->width < 1 || size->height > kLargest || size->width > kLargest ||
      size->channels < 1 || size->channels > 4)
    throw InvalidArgument(
        cat("the header of this ", png ? "PNG" : "JPEG", " file states no size; it is damaged"));
  return *size;
}

}  // namespace runnel
