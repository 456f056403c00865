// Where each picture lies in the file, and what is refused.
#include "summary/values/sprite.h"

#include <doctest/doctest.h>

#include "graph/error.h"
#include "summary/values/png.h"

using namespace runnel;

TEST_CASE("pictures fill rows from the top left on, and what is left over is black") {
  // Three pictures of 1 x 2 pixels in a grid of 2 x 2.
  const Tensor images = Tensor::from<std::uint8_t>({3, 1, 2, 1}, {1, 2, 3, 4, 5, 6});
  const std::vector<std::uint8_t> expected = {1, 2, 3, 4, 5, 6, 0, 0};
  CHECK(sprite_file(images) == png_of(expected, {.height = 2, .width = 4, .channels = 1}));
}

TEST_CASE("five pictures take two rows of three, in all numbers of channels") {
  for (const std::int64_t channels : {1, 3, 4}) {
    CAPTURE(channels);
    const Tensor images = Tensor::zeros(DType::kUint8, {5, 4, 2, channels});
    const std::vector<std::uint8_t> expected(static_cast<std::size_t>(8 * 6 * channels));
    CHECK(sprite_file(images) == png_of(expected, {.height = 8, .width = 6, .channels = channels}));
  }
}

TEST_CASE("other shapes, and files too large to be drawn, are refused") {
  CHECK_THROWS_WITH_AS(
      sprite_file(Tensor::zeros(DType::kUint8, {2, 8, 8})),
      "the sprite is uint8[2,8,8]: give uint8[points, height, width, 1, 3 or 4], none of them 0",
      InvalidArgument);
  CHECK_THROWS_AS(sprite_file(Tensor::zeros(DType::kFloat, {2, 8, 8, 3})), InvalidArgument);
  CHECK_THROWS_AS(sprite_file(Tensor::zeros(DType::kUint8, {2, 8, 8, 2})), InvalidArgument);
  CHECK_THROWS_AS(sprite_file(Tensor::zeros(DType::kUint8, {0, 8, 8, 3})), InvalidArgument);
  CHECK_NOTHROW(sprite_file(Tensor::zeros(DType::kUint8, {4, 1, 4096, 1})));
  CHECK_THROWS_AS(sprite_file(Tensor::zeros(DType::kUint8, {5, 1, 4096, 1})), InvalidArgument);
}
