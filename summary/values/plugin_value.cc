// Fills the parts of a Summary.Value that do not depend on the plugin.
#include "summary/values/plugin_value.h"

#include "graph/error.h"
#include "graph/tensor_proto.h"
#include "graph/utf8.h"
#include "runnel/summary.pb.h"

namespace runnel {
namespace {

// A protobuf message ends at 2 GiB; half of it leaves room for the event around it.
constexpr std::size_t kMostBytes = std::size_t{1} << 30;

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

}  // namespace runnel
