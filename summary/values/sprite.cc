// Rows of pixels are copied into place; the places that are left over stay black (or transparent).
#include "summary/values/sprite.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "graph/error.h"
#include "summary/values/plugin_value.h"
#include "summary/values/png.h"

namespace runnel {
namespace {

constexpr std::int64_t kMostPixels = 8192;  // a side, by what the projector says of itself

struct Grid {
  std::int64_t rows, columns;
};

Grid grid_for(std::int64_t count) {
  auto columns = static_cast<std::int64_t>(std::sqrt(static_cast<double>(count)));
  while (columns * columns < count) ++columns;
  return {.rows = (count + columns - 1) / columns, .columns = columns};
}

void check_images(const Tensor& images) {
  const Shape& shape = images.shape();
  const bool fits = images.dtype() == DType::kUint8 && shape.rank() == 4 && images.elements() > 0 &&
                    (shape[3] == 1 || shape[3] == 3 || shape[3] == 4);
  if (!fits)
    throw InvalidArgument(cat("the sprite is ", kind_of(images),
                              ": give uint8[points, height, width, 1, 3 or 4], none of them 0"));
  const Grid grid = grid_for(shape[0]);
  if (std::max(shape[1], shape[2]) > kMostPixels || grid.rows * shape[1] > kMostPixels ||
      grid.columns * shape[2] > kMostPixels)
    throw InvalidArgument(cat("pictures ", kind_of(images), " make a file of more than ", kMostPixels,
                              " pixels a side, which browsers do not draw: give smaller ones"));
}

}  // namespace

std::string sprite_file(const Tensor& images) {
  check_images(images);
  const Shape& shape = images.shape();
  const std::int64_t count = shape[0], height = shape[1], row = shape[2] * shape[3];
  const Grid grid = grid_for(count);
  std::vector<std::uint8_t> pixels(static_cast<std::size_t>(grid.rows * height * grid.columns * row));
  const std::uint8_t* from = images.values<std::uint8_t>().data();
  for (std::int64_t i = 0; i < count; ++i)
    for (std::int64_t y = 0; y < height; ++y, from += row) {
      const std::int64_t line = i / grid.columns * height + y;
      std::copy_n(from, row, pixels.data() + (line * grid.columns + i % grid.columns) * row);
    }
  return png_of(pixels,
                {.height = grid.rows * height, .width = grid.columns * shape[2], .channels = shape[3]});
}

}  // namespace runnel
