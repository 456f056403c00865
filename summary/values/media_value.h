// Serialized Summary messages of pictures, sounds and tensors, beside the numbers of value.h: what FileWriter
// writes and what the summary ops return, byte for byte as TensorFlow's ops do. Source:
// formats 7.1, 7.3, 7.4, 8.2. All throw InvalidArgument for more than an event can hold (1 GiB).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "graph/tensor.h"
#include "summary/media_options.h"
#include "summary/values/png.h"

namespace runnel {

struct EncodedImage {
  ImageSize size;
  std::string file;  // PNG or JPEG
};

struct EncodedSound {
  float sample_rate = 0;
  std::int64_t channels = 0, frames = 0;
  std::string file;  // WAV
};

// One value{tag, image} up to the picture's file, so many bytes, which must follow: such values are large,
// and a copy of the file takes longer than all else. Throws InvalidArgument for more than an event can hold.
std::string image_value_head(const std::string& tag, const ImageSize& size, std::size_t file_bytes);
// One value{tag, audio}.
std::string audio_value(const std::string& tag, EncodedSound sound);

// What an op gives for a batch of which it takes at most `most`: values tagged TAG/image/0, TAG/image/1, ...,
// or TAG/image if `most` is 1. Sounds: TAG/audio.
std::string image_values(const std::string& tag, std::vector<EncodedImage> images, std::int64_t most);
std::string audio_values(const std::string& tag, std::vector<EncodedSound> sounds, std::int64_t most);

// Several pictures of one size as one value, which TensorBoard shows side by side: value{tag, tensor,
// metadata} of the plugin "images".
std::string image_batch_value(const std::string& tag, std::vector<EncodedImage> images);

// The serialized SummaryMetadata. Throws InvalidArgument for texts that are no UTF-8.
std::string metadata_bytes(const TensorMetadata& metadata);

// value{tag, tensor, metadata}. Throws InvalidArgument if `metadata` is no SummaryMetadata, Unimplemented for
// a dtype without values.
std::string tensor_value(const std::string& tag, const Tensor& tensor, std::string_view metadata);

// value{node_name, tensor}: the older form, which has neither tag nor metadata.
std::string node_tensor_value(const std::string& node, const Tensor& tensor);

}  // namespace runnel
