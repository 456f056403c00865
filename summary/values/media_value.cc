// Fills Summary.Value messages and serializes them. Files of pictures and sounds are moved in, not copied.
#include "summary/values/media_value.h"

#include <utility>

#include "graph/error.h"
#include "graph/tensor_proto.h"
#include "graph/wire.h"
#include "runnel/summary.pb.h"
#include "summary/events/wire_format.h"
#include "summary/values/plugin_value.h"

namespace runnel {
namespace {

void add_value(pb::Summary& summary, const std::string& tag, EncodedImage image) {
  pb::Summary::Value& value = *summary.add_value();
  value.set_tag(tag);
  pb::Summary::Image& out = *value.mutable_image();
  out.set_height(static_cast<std::int32_t>(image.size.height));
  out.set_width(static_cast<std::int32_t>(image.size.width));
  out.set_colorspace(static_cast<std::int32_t>(image.size.channels));
  out.set_encoded_image_string(std::move(image.file));
}

void add_value(pb::Summary& summary, const std::string& tag, EncodedSound sound) {
  pb::Summary::Value& value = *summary.add_value();
  value.set_tag(tag);
  pb::Summary::Audio& out = *value.mutable_audio();
  out.set_sample_rate(sound.sample_rate);
  out.set_num_channels(sound.channels);
  out.set_length_frames(sound.frames);
  out.set_encoded_audio_string(std::move(sound.file));
  out.set_content_type("audio/wav");
}

template <class File>
std::string numbered(const std::string& tag, std::vector<File> files, std::int64_t most) {
  pb::Summary summary;
  for (std::size_t i = 0; i < files.size(); ++i)
    add_value(summary, most == 1 ? tag : cat(tag, "/", i), std::move(files[i]));
  return serialized(summary);
}

// Key and length of a field that `bytes` follow.
void append_field_head(std::string& out, int field, std::size_t bytes) {
  char head[16];
  head[0] = wire_key(field, WireType::kBytes);
  out.append(head, put_varint(head + 1, bytes));
}

// Numbers as the bytes they have in memory, even a single one; strings as a list.
void fill(pb::TensorProto& out, const Tensor& tensor) {
  if (!can_hold(static_cast<int>(tensor.dtype())))
    throw Unimplemented(
        cat("a tensor of dtype ", tensor.dtype(), " holds no values that a summary could show"));
  out.set_dtype(static_cast<pb::DataType>(tensor.dtype()));
  write_shape(tensor.shape(), *out.mutable_tensor_shape());
  if (tensor.dtype() != DType::kString) {
    if (tensor.bytes() > 0) out.set_tensor_content(tensor.data(), tensor.bytes());
    return;
  }
  for (const std::string& text : tensor.values<std::string>()) out.add_string_val(text);
}

}  // namespace

std::string image_value_head(const std::string& tag, const ImageSize& size, std::size_t file_bytes) {
  if (file_bytes > static_cast<std::size_t>(kMaxImageBytes))
    throw InvalidArgument(cat("a picture's file of ", file_bytes, " bytes is too large: it may have 1 GiB"));
  pb::Summary summary;
  add_value(summary, tag, {size, ""});
  // The same messages with the file at the end of the innermost: their lengths grow, the rest stays.
  std::string image = summary.value(0).image().SerializeAsString(), value, out;
  append_field_head(image, pb::Summary::Image::kEncodedImageStringFieldNumber, file_bytes);
  if (!tag.empty()) {
    append_field_head(value, pb::Summary::Value::kTagFieldNumber, tag.size());
    value += tag;
  }
  append_field_head(value, pb::Summary::Value::kImageFieldNumber, image.size() + file_bytes);
  append_field_head(out, pb::Summary::kValueFieldNumber, value.size() + image.size() + file_bytes);
  return out + value + image;
}

std::string audio_value(const std::string& tag, EncodedSound sound) {
  pb::Summary summary;
  add_value(summary, tag, std::move(sound));
  return serialized(summary);
}

std::string image_values(const std::string& tag, std::vector<EncodedImage> images, std::int64_t most) {
  return numbered(tag + "/image", std::move(images), most);
}
std::string audio_values(const std::string& tag, std::vector<EncodedSound> sounds, std::int64_t most) {
  return numbered(tag + "/audio", std::move(sounds), most);
}

std::string image_batch_value(const std::string& tag, std::vector<EncodedImage> images) {
  if (images.empty()) throw InvalidArgument(cat("picture '", tag, "': there are no pictures in the batch"));
  std::vector<std::string> parts = {cat(images[0].size.width), cat(images[0].size.height)};
  for (EncodedImage& image : images) parts.push_back(std::move(image.file));
  return tensor_value(tag, Tensor::vector(parts), metadata_bytes({.plugin_name = "images"}));
}

std::string metadata_bytes(const TensorMetadata& metadata) {
  pb::SummaryMetadata out;
  if (!metadata.plugin_name.empty()) {
    out.mutable_plugin_data()->set_plugin_name(checked_text(metadata.plugin_name, "plugin_name"));
    out.mutable_plugin_data()->set_content(metadata.plugin_content);
  }
  out.set_display_name(checked_text(metadata.display_name, "display_name"));
  out.set_summary_description(checked_text(metadata.description, "description"));
  out.set_data_class(static_cast<pb::DataClass>(metadata.data_class));
  return out.SerializeAsString();
}

std::string tensor_value(const std::string& tag, const Tensor& tensor, std::string_view metadata) {
  pb::Summary summary;
  pb::Summary::Value& value = *summary.add_value();
  value.set_tag(tag);
  fill(*value.mutable_tensor(), tensor);
  if (!parse_message(metadata, *value.mutable_metadata()))
    throw InvalidArgument(cat("tensor '", tag, "': these ", metadata.size(), " bytes of metadata are no ",
                              "SummaryMetadata message"));
  return serialized(summary);
}

std::string node_tensor_value(const std::string& node, const Tensor& tensor) {
  pb::Summary summary;
  summary.add_value()->set_node_name(node);
  fill(*summary.mutable_value(0)->mutable_tensor(), tensor);
  return serialized(summary);
}

}  // namespace runnel
