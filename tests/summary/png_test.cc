// PNG files: the chunks byte by byte, the pixels that come out again, and sizes that no file may have.
#include "summary/values/png.h"

#include <doctest/doctest.h>

#include <vector>

#include "graph/error.h"
#include "tests/summary/png_reading.h"

using namespace runnel;

namespace {

std::vector<std::uint8_t> some_pixels(const ImageSize& size) {
  std::vector<std::uint8_t> out(pixel_bytes(size));
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<std::uint8_t>(i * i + 7 * i);
  return out;
}

}  // namespace

TEST_CASE("a file begins and ends as the format says") {
  const std::string file = png_of(std::vector<std::uint8_t>{0, 255}, {1, 2, 1});
  CHECK(file.substr(0, 8) == "\x89PNG\r\n\x1a\n");
  CHECK(file.substr(8, 25) ==
        std::string("\0\0\0\rIHDR\0\0\0\x02\0\0\0\x01\x08\0\0\0\0\xd1\x49\x20\x56", 25));  // as libpng's
  CHECK(file.substr(file.size() - 12) == std::string("\0\0\0\0IEND\xae\x42\x60\x82", 12));
}

TEST_CASE("the pixels come out as they went in, grey, RGB and RGBA") {
  for (const std::int64_t channels : {1, 3, 4})
    for (const std::int64_t side : {1, 2, 37, 300}) {
      const ImageSize size{side, 2 * side - 1, channels};
      CAPTURE(channels);
      CAPTURE(side);
      const std::vector<std::uint8_t> pixels = some_pixels(size);
      const DecodedPng read = decoded_png(png_of(pixels, size));
      CHECK(read.size == size);
      CHECK(read.pixels == pixels);
    }
}

TEST_CASE("noise, which no deflating makes smaller, fits, too") {
  for (const ImageSize& size : {ImageSize{700, 700, 3}, ImageSize{9000, 1, 1}, ImageSize{1, 70000, 4}}) {
    std::vector<std::uint8_t> pixels(pixel_bytes(size));
    std::uint32_t state = 7;
    for (std::uint8_t& pixel : pixels)
      pixel = static_cast<std::uint8_t>((state = state * 1664525 + 1013904223) >> 24);
    CHECK(decoded_png(png_of(pixels, size)).pixels == pixels);
  }
}

TEST_CASE("sizes that no picture has are refused before memory is taken") {
  CHECK_THROWS_WITH_AS(
      pixel_bytes({2, 3, 2}),
      "a picture of height 2, width 3 and 2 channels cannot be shown: there must be 1 (grey), "
      "3 (RGB) or 4 (RGBA)",
      InvalidArgument);
  CHECK_THROWS_AS(pixel_bytes({0, 3, 1}), InvalidArgument);
  CHECK_THROWS_AS(pixel_bytes({3, -1, 1}), InvalidArgument);
  constexpr std::int64_t kHuge = std::int64_t{1} << 62;
  CHECK_THROWS_AS(pixel_bytes({kHuge, kHuge, 4}), InvalidArgument);
  CHECK_THROWS_AS(pixel_bytes({2, kHuge, 1}), InvalidArgument);
  CHECK_THROWS_AS(pixel_bytes({(1 << 30) + 1, 1, 1}), InvalidArgument);
  CHECK(pixel_bytes({1 << 15, 1 << 15, 1}) == std::size_t{1} << 30);
}

TEST_CASE("as many bytes must be given as the size says") {
  CHECK_THROWS_WITH_AS(png_of(std::vector<std::uint8_t>(5), {1, 2, 3}),
                       "a picture of height 1, width 2 and 3 channels has 6 bytes, not 5", InvalidArgument);
}
