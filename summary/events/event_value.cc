// Follows TensorBoard's readers: the older forms keep their tag and get the metadata of what replaced them.
#include "summary/events/event_value.h"

#include <algorithm>

#include "graph/tensor_proto.h"
#include "runnel/event.pb.h"

namespace runnel {
namespace {

// What a reader fills in where a plugin that it knows says nothing of how its data are kept.
DataClass class_of(const std::string& plugin) {
  for (const char* name : {"histograms", "text", "hparams", "pr_curves", "mesh", "custom_scalars"})
    if (plugin == name) return DataClass::kTensor;
  for (const char* name :
       {"images", "audio", "graph_run_metadata", "graph_run_metadata_graph", "graph_keras_model"})
    if (plugin == name) return DataClass::kBlobSequence;
  return plugin == "scalars" ? DataClass::kScalar : DataClass::kUnknown;
}

// The plugin of an older form, and what it is told of it.
struct OldForm {
  const char* plugin;
  const char* content;
};
std::optional<OldForm> old_form(const pb::Summary::Value& value) {
  switch (value.value_case()) {
    case pb::Summary::Value::kSimpleValue: return OldForm{"scalars", ""};
    case pb::Summary::Value::kHisto: return OldForm{"histograms", ""};
    case pb::Summary::Value::kImage: return OldForm{"images", "\x10\x01"};         // converted to a tensor
    case pb::Summary::Value::kAudio: return OldForm{"audio", "\x10\x0b\x18\x01"};  // WAV, converted
    default: return std::nullopt;
  }
}

Tensor strings(const std::vector<std::string>& texts) { return Tensor::vector(texts); }

// [k, 3] of left edge, right edge, count. Empty buckets at both ends are left out and the outermost edges are
// min and max: the limits there may be the largest double.
Tensor histogram_tensor(const pb::HistogramProto& histogram) {
  const auto& counts = histogram.bucket();
  const auto& limits = histogram.bucket_limit();
  if (counts.size() != limits.size())
    throw DataLoss(cat("a histogram has ", counts.size(), " counts and ", limits.size(), " limits"));
  int first = 0, end = counts.size();
  while (first < end && !(counts[first] > 0)) ++first;
  while (end > first && !(counts[end - 1] > 0)) --end;
  Tensor out(DType::kFloat, Shape{end - first, 3});
  float* to = out.mutable_values<float>().data();
  for (int i = first; i < end; ++i) {
    *to++ = static_cast<float>(i == first ? histogram.min() : limits[i - 1]);
    *to++ = static_cast<float>(i == end - 1 ? histogram.max() : limits[i]);
    *to++ = static_cast<float>(counts[i]);
  }
  return out;
}

// What the tensors of one event may take. A message of thirty bytes may claim any shape: its last value
// stands for all that are left out.
class Allowance {
 public:
  Tensor take(const pb::TensorProto& message) {
    const std::uint64_t held = message.ByteSizeLong(), claimed = elements_of(message.tensor_shape());
    if (claimed > held) {
      if (claimed - held > spare_)
        throw DataLoss(cat("a tensor claims ", claimed, " elements in ", held, " bytes"));
      spare_ -= claimed - held;
    }
    return runnel::tensor_of(message, budget_);
  }

 private:
  static std::uint64_t elements_of(const pb::TensorShapeProto& shape) {
    std::uint64_t out = 1;
    for (const pb::TensorShapeProto::Dim& dim : shape.dim())
      if (__builtin_mul_overflow(out, static_cast<std::uint64_t>(dim.size()), &out)) return ~std::uint64_t{0};
    return out;
  }

  TensorBudget budget_;
  std::uint64_t spare_ = 1 << 20;  // elements beyond what the bytes hold
};

// Of a sound's strings and labels ([n, 2]) the sounds alone.
Tensor without_labels(const Tensor& sounds) {
  const std::int64_t rank = sounds.shape().rank();
  if (sounds.dtype() != DType::kString || rank < 2 || sounds.elements() == 0) return sounds;
  const std::int64_t count = sounds.shape()[0], stride = sounds.elements() / count;
  std::vector<std::string> first;
  for (std::int64_t i = 0; i < count; ++i)
    first.push_back(sounds.values<std::string>()[static_cast<std::size_t>(i * stride)]);
  return strings(first);
}

Tensor tensor_of(const pb::Summary::Value& value, Allowance& allowance) {
  switch (value.value_case()) {
    case pb::Summary::Value::kSimpleValue: return Tensor::scalar(value.simple_value());
    case pb::Summary::Value::kHisto: return histogram_tensor(value.histo());
    case pb::Summary::Value::kImage:
      return strings({std::to_string(value.image().width()), std::to_string(value.image().height()),
                      value.image().encoded_image_string()});
    case pb::Summary::Value::kAudio: return strings({value.audio().encoded_audio_string()});
    case pb::Summary::Value::kTensor: {
      const Tensor tensor = allowance.take(value.tensor());
      return value.metadata().plugin_data().plugin_name() == "audio" ? without_labels(tensor) : tensor;
    }
    default: return {};
  }
}

EventValue read_value(const pb::Summary::Value& message, Allowance& allowance) {
  EventValue value = described(message);
  try {
    value.tensor = tensor_of(message, allowance);
  } catch (const Error& error) {
    value.problem = error.message();
  }
  return value;
}

EventValue kept_bytes(EventValue value, const std::string& bytes) {
  value.tensor = strings({bytes});
  return value;
}

EventValue value_at(const pb::Event& message, std::size_t index, Allowance& allowance) {
  if (message.has_graph_def()) return kept_bytes(described_graph(), message.graph_def());
  if (message.has_tagged_run_metadata()) {
    const pb::TaggedRunMetadata& tagged = message.tagged_run_metadata();
    return kept_bytes(described_run_metadata(tagged.tag()), tagged.run_metadata());
  }
  return read_value(message.summary().value(static_cast<int>(index)), allowance);
}

}  // namespace

EventValue described(const pb::Summary::Value& message) {
  const pb::SummaryMetadata& metadata = message.metadata();
  EventValue value;
  value.tag = message.tag();
  value.display_name = metadata.display_name();
  value.description = metadata.summary_description();
  if (const std::optional<OldForm> old = old_form(message)) {
    value.plugin = old->plugin;
    value.plugin_content = old->content;
    value.data_class = class_of(value.plugin);
    if (value.display_name.empty()) value.display_name = value.tag;
    value.has_metadata = true;
    return value;
  }
  value.plugin = metadata.plugin_data().plugin_name();
  value.plugin_content = metadata.plugin_data().content();
  value.data_class = static_cast<DataClass>(metadata.data_class());
  if (value.data_class == DataClass::kUnknown) value.data_class = class_of(value.plugin);
  value.has_metadata = message.has_metadata();
  return value;
}

EventValue described_graph() {
  return {.tag = kGraphTag,
          .tensor = {},
          .plugin = "graphs",
          .data_class = DataClass::kBlobSequence,
          .has_metadata = true};
}

EventValue described_run_metadata(const std::string& tag) {
  return {.tag = tag,
          .tensor = {},
          .plugin = "graph_tagged_run_metadata",
          .data_class = DataClass::kBlobSequence,
          .has_metadata = true};
}

std::optional<EventNumber> number_of(const pb::Summary::Value& value) {
  if (value.has_simple_value()) return EventNumber{value.simple_value(), DType::kFloat};
  if (!value.has_tensor() || value.tensor().tensor_shape().dim_size() > 0) return std::nullopt;
  try {
    Allowance allowance;
    const Tensor tensor = allowance.take(value.tensor());
    switch (tensor.dtype()) {
      case DType::kFloat: return EventNumber{tensor.scalar<float>(), DType::kFloat};
      case DType::kDouble: return EventNumber{tensor.scalar<double>(), DType::kDouble};
      case DType::kInt32: return EventNumber{double(tensor.scalar<std::int32_t>()), DType::kInt32};
      default: return std::nullopt;
    }
  } catch (const Error&) {
    return std::nullopt;  // read_value() says why
  }
}

EventValue value_of(const pb::Event& message, std::size_t index) {
  Allowance allowance;
  return value_at(message, index, allowance);
}

Event event_in(const pb::Event& message) {
  Event event;
  event.at = {.wall = message.wall_time(), .step = message.step()};
  std::size_t values = 0;
  switch (message.what_case()) {
    case pb::Event::kFileVersion:
      event.kind = EventKind::kVersion;
      event.text = message.file_version();
      break;
    case pb::Event::kGraphDef: event.kind = EventKind::kGraph, values = 1; break;
    case pb::Event::kTaggedRunMetadata: event.kind = EventKind::kRunMetadata, values = 1; break;
    case pb::Event::kMetaGraphDef:
      event.kind = EventKind::kMetaGraph;
      event.bytes = message.meta_graph_def();
      break;
    case pb::Event::kSessionLog:
      event.kind = EventKind::kSessionLog;
      event.session_status = message.session_log().status();
      event.checkpoint_path = message.session_log().checkpoint_path();
      event.text = message.session_log().msg();
      break;
    case pb::Event::kSummary:
      event.kind = EventKind::kSummary;
      values = static_cast<std::size_t>(message.summary().value_size());
      break;
    default: break;
  }
  Allowance allowance;
  for (std::size_t i = 0; i < values; ++i) event.values.push_back(value_at(message, i, allowance));
  return event;
}

}  // namespace runnel
