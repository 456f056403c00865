// What FileWriter must be told about pictures, sounds and tensors that come as plain numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "summary/values/image.h"

namespace runnel {

struct ImageOptions {
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t channels = 1;  // 1 grey, 3 red, green, blue, 4 the same with opacity
  std::int64_t images = 1;    // as many pictures one after another, which are shown side by side
  // Of floats, what becomes 0 and 255; nullopt stretches each picture by itself, as a graph's summary::image.
  std::optional<PixelRange> range = PixelRange{.low = 0, .high = 1};
};

struct AudioOptions {
  float sample_rate = 0;  // frames a second; there is no default
  std::int64_t channels = 1;
};

// How TensorBoard stores the tensors of a plugin that it does not know.
enum class DataClass { kUnknown = 0, kScalar = 1, kTensor = 2, kBlobSequence = 3 };

// What a tensor is for (SummaryMetadata): which of TensorBoard's plugins shows it, and under which words.
struct TensorMetadata {
  std::string plugin_name = "";     // none: stored, but not shown
  std::string plugin_content = "";  // the plugin's own message
  std::string display_name = "";    // in place of the tag
  std::string description = "";     // Markdown
  DataClass data_class = DataClass::kUnknown;
};

// Of texts that are UTF-8: for others the Text page would fail, so they throw InvalidArgument.
struct TextOptions {
  std::string display_name = "";  // in place of the tag
  std::string description = "";   // Markdown
};

}  // namespace runnel
