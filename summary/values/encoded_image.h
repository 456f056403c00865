// The size that a PNG or JPEG file states in its header, for pictures that are written to an event as they
// are. The rest of the file is not looked at. Source: ISO/IEC 15948 (PNG), ITU T.81 (JPEG).
#pragma once

#include <string_view>

#include "summary/values/png.h"

namespace runnel {

// Throws InvalidArgument for bytes that begin neither a PNG nor a JPEG file, or state no size.
ImageSize encoded_image_size(std::string_view file);

}  // namespace runnel
