// Many small pictures in one file, as TensorBoard's projector shows one beside each point. Source:
// TensorBoard's projector plugin.
#pragma once

#include <string>

#include "graph/tensor.h"

namespace runnel {

// A PNG file of the pictures in rows from the top left on, as many rows as columns or one less.
//
//   images   uint8[count, height, width, channels], channels 1, 3 or 4
//   errors   InvalidArgument for other dtypes and shapes, and if a side of the file would be over 8192
//            pixels, which browsers do not draw
std::string sprite_file(const Tensor& images);

}  // namespace runnel
