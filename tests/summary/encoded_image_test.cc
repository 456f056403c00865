// Sizes read from the headers of PNG and JPEG files, whole, cut and forged.
#include "summary/values/encoded_image.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "graph/error.h"
#include "tests/fuzz/mutate.h"

using namespace runnel;

namespace {

using namespace std::string_literals;

// Two segments before the frame, one of them filled; 3 channels, 258 high, 772 wide.
const std::string kJpeg =
    "\xff\xd8\xff\xe0\x00\x04JF\xff\xff\xc4\x00\x03x\xff\xc2\x00\x11\x08\x01\x02\x03\x04\x03"s +
    std::string(12, 'x');

std::string png(const std::string& size, char colour) {
  return "\x89PNG\r\n\x1a\n\0\0\0\rIHDR"s + size + "\x08"s + colour + std::string(7, '\0');
}

}  // namespace

TEST_CASE("a PNG's size stands in its first chunk") {
  const std::vector<std::uint8_t> pixels(2 * 3 * 4);
  CHECK(encoded_image_size(png_of(pixels, {2, 3, 4})) == ImageSize{2, 3, 4});
  CHECK(encoded_image_size(png("\0\0\1\2\0\0\3\4"s, 3)) == ImageSize{772, 258, 3});  // with a palette
  CHECK(encoded_image_size(png("\0\0\1\2\0\0\3\4"s, 4)) == ImageSize{772, 258, 2});  // grey with opacity
}

TEST_CASE("a JPEG's size stands in its frame, after other segments") {
  CHECK(encoded_image_size(kJpeg) == ImageSize{258, 772, 3});
}

TEST_CASE("other files are refused, with what to do") {
  CHECK_THROWS_WITH_AS(encoded_image_size("GIF89a"),
                       "these 6 bytes are neither a PNG nor a JPEG file; give pixels to image() instead",
                       InvalidArgument);
  CHECK_THROWS_AS(encoded_image_size(""), InvalidArgument);
}

TEST_CASE("a header that is cut or states no size is refused") {
  for (std::size_t size = 0; size < 24; ++size)
    CHECK_THROWS_AS(encoded_image_size(std::string_view(kJpeg).substr(0, size)), InvalidArgument);
  const std::string whole = png("\0\0\1\2\0\0\3\4"s, 2);
  for (std::size_t size = 0; size < whole.size(); ++size)
    CHECK_THROWS_AS(encoded_image_size(std::string_view(whole).substr(0, size)), InvalidArgument);
  CHECK_THROWS_WITH_AS(encoded_image_size(png("\0\0\0\0\0\0\0\1"s, 2)),
                       "the header of this PNG file states no size; it is damaged", InvalidArgument);
  CHECK_THROWS_AS(encoded_image_size(png("\xff\0\0\0\0\0\0\1"s, 2)), InvalidArgument);
  CHECK_THROWS_AS(encoded_image_size(png("\0\0\0\1\0\0\0\1"s, 5)), InvalidArgument);
  CHECK_THROWS_AS(encoded_image_size("\xff\xd8\xff\xe0\0\0\xff\xc0\0\x11\x08\1\2\3\4\3"s), InvalidArgument);
}

TEST_CASE("a damaged file gives a size or InvalidArgument, whatever the damage") {
  const std::vector<std::uint8_t> pixels(6);
  const std::string files[] = {png_of(pixels, {2, 3, 1}), kJpeg};
  Dice dice(1);
  for (int i = 0; i < 20000; ++i) {
    CAPTURE(i);
    try {
      const ImageSize size = encoded_image_size(mutated(files[dice.below(2)], dice));
      REQUIRE((size.height > 0 && size.width > 0 && size.channels > 0));
    } catch (const InvalidArgument&) {
    }
  }
}
