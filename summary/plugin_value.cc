// Fills the parts of a Summary.Value that do not depend on the plugin.
#include "summary/plugin_value.h"

#include <string_view>

#include "graph/error.h"
#include "graph/tensor_proto.h"
#include "runnel/summary.pb.h"

namespace runnel {
namespace {

// A protobuf message ends at 2 GiB; half of it leaves room for the event around it.
constexpr std::size_t kMostBytes = std::size_t{1} << 30;

// Length of the character that the text begins with, 0 if it is none. Second bytes of E0, ED, F0 and F4 have
// narrower ranges, which keep out longer forms of short characters, surrogates, and what is over U+10FFFF.
std::size_t character_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4) return 0;
  const std::size_t length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (length > text.size()) return 0;
  const unsigned char least = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
  const unsigned char most = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
  if (byte(1) < least || byte(1) > most) return 0;
  for (std::size_t i = 2; i < length; ++i)
    if (byte(i) < 0x80 || byte(i) > 0xbf) return 0;
  return length;
}

}  // namespace

pb::Summary_Value& add_plugin_value(pb::Summary& summary, const std::string& tag, const std::string& plugin,
                                    const std::string& content) {
  pb::Summary_Value& value = *summary.add_value();
  value.set_tag(checked_text(tag, "the tag"));
  auto& data = *value.mutable_metadata()->mutable_plugin_data();
  data.set_plugin_name(plugin);
  data.set_content(content);
  return value;
}

void write_content(const Tensor& tensor, pb::TensorProto& proto) {
  if (tensor.bytes() > kMostBytes)
    throw InvalidArgument(cat(tensor.dtype(), tensor.shape(), " is more than an event can hold, ", kMostBytes,
                              " bytes: log a part of it"));
  proto.set_dtype(static_cast<pb::DataType>(tensor.dtype()));
  write_shape(tensor.shape(), *proto.mutable_tensor_shape());
  if (tensor.elements() > 0)
    proto.set_tensor_content(static_cast<const char*>(tensor.data()), tensor.bytes());
}

std::string kind_of(const Tensor& tensor) {
  return tensor ? cat(tensor.dtype(), tensor.shape()) : "no value";
}

std::string serialized(const pb::Summary& summary) {
  const std::size_t bytes = summary.ByteSizeLong();
  if (bytes > kMostBytes)
    throw InvalidArgument(cat(bytes, " bytes are more than an event can hold, ", kMostBytes, ": log a part"));
  return summary.SerializeAsString();
}

const std::string& checked_text(const std::string& text, const char* what) {
  if (!is_utf8(text))
    throw InvalidArgument(cat(what, " is no UTF-8, so TensorBoard would drop the event: '", text, "'"));
  return text;
}

bool is_utf8(const std::string& text) {
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t length = character_length(rest);
    if (length == 0) return false;
    rest.remove_prefix(length);
  }
  return true;
}

}  // namespace runnel
