// Specs and builders of the summary ops of pictures, sounds, tensors and texts. Their kernels are in
// media_kernels.cc.
#include "summary/media_ops.h"

#include <utility>

#include "graph/error.h"
#include "graph/wire.h"
#include "runnel/summary.pb.h"
#include "summary/summary_scope.h"
#include "summary/values/media_value.h"
#include "summary/values/plugin_value.h"

namespace runnel {
namespace {

const char* kNoGradient = "a string has no derivative";

// An attribute that is a pixel, which the notation of specs cannot write.
AttrSpec bad_color_red() {
  AttrSpec out("bad_color: tensor");
  out.default_value = AttrValue(Tensor::vector<std::uint8_t>({255, 0, 0, 255}));
  return out;
}

const OpRegistration kImageSummary{{
    .name = "ImageSummary",
    .inputs = {"tag: string", "tensor: T"},
    .outputs = {"summary: string"},
    .attrs = {"max_images: int >= 1 = 3", "T: {uint8, float, half, double} = DT_FLOAT", bad_color_red()},
    .shape = [](const ShapeContext& c) -> Shapes {
      c.input("tag", Rank{0});
      const std::int64_t channels = c.input("tensor", Rank{4})[3];
      if (channels >= 0 && channels != 1 && channels != 3 && channels != 4)
        c.refuse("a picture has 1 (grey), 3 (RGB) or 4 (RGBA) channels, the last dimension");
      return Shape{};
    },
    .gradient = Gradient::none(kNoGradient),
}};

const OpRegistration kAudioSummary{{
    .name = "AudioSummaryV2",
    .inputs = {"tag: string", "tensor: float", "sample_rate: float"},
    .outputs = {"summary: string"},
    .attrs = {"max_outputs: int >= 1 = 3"},
    .shape = [](const ShapeContext& c) -> Shapes {
      c.input("tag", Rank{0});
      c.input("sample_rate", Rank{0});
      const Shape sounds = c.input("tensor");
      if (sounds.has_rank() && sounds.rank() != 2 && sounds.rank() != 3)
        c.refuse("sounds are [batch, frames] or [batch, frames, channels]");
      return Shape{};
    },
    .gradient = Gradient::none(kNoGradient),
}};

const OpRegistration kTensorSummaryV2{{
    .name = "TensorSummaryV2",
    .inputs = {"tag: string", "tensor: T", "serialized_summary_metadata: string"},
    .outputs = {"summary: string"},
    .attrs = {"T: type"},
    .shape = [](const ShapeContext& c) -> Shapes {
      c.input("tag", Rank{0});
      c.input("serialized_summary_metadata", Rank{0});
      return Shape{};
    },
    .gradient = Gradient::none(kNoGradient),
}};

const OpRegistration kTensorSummary{{
    .name = "TensorSummary",
    .inputs = {"tensor: T"},
    .outputs = {"summary: string"},
    .attrs = {"T: type", "description: string = ''", "labels: list(string) = []",
              "display_name: string = ''"},
    .shape = scalar_shape,
    .gradient = Gradient::none(kNoGradient),
}};

// The user's metadata with the two texts set that have options of their own.
std::string described(const summary::TensorOptions& o) {
  pb::SummaryMetadata metadata;
  if (!parse_message(o.summary_metadata, metadata))
    throw InvalidArgument("TensorSummaryV2: summary_metadata is no serialized SummaryMetadata message",
                          o.where);
  if (!o.display_name.empty()) metadata.set_display_name(checked_text(o.display_name, "display_name"));
  if (!o.summary_description.empty())
    metadata.set_summary_description(checked_text(o.summary_description, "summary_description"));
  return metadata.SerializeAsString();
}

Output add_tensor(SummaryName name, Output tensor, std::string metadata) {
  const SummaryScope scope(tensor.graph(), "TensorSummaryV2", std::move(name));
  const Output tag = scope.text("tag", scope.tag());
  return scope.add({tag, tensor, scope.text("serialized_summary_metadata", std::move(metadata))}, {});
}

}  // namespace

namespace summary {

Output image(std::string_view name, Operand tensor, ImageOptions o) {
  const Output pixels = tensor.alone();
  Attrs attrs = {{"max_images", o.max_outputs}};
  if (o.range) {
    if (base_of(pixels.dtype()) == DType::kUint8)
      throw InvalidArgument(cat("ImageSummary '", name, "': bytes are pixels and have no range"), o.where);
    check_range(*o.range);
    attrs["_low"] = o.range->low;
    attrs["_high"] = o.range->high;
  }
  const SummaryScope scope(pixels.graph(), "ImageSummary",
                           {std::string(name), o.family, o.collections, o.where});
  return scope.add({scope.text("tag", scope.tag()), pixels}, attrs);
}

Output audio(std::string_view name, Operand tensor, Operand sample_rate, AudioOptions o) {
  const Output samples = tensor.alone();
  const SummaryScope scope(samples.graph(), "AudioSummaryV2",
                           {std::string(name), o.family, o.collections, o.where});
  const Output rate = sample_rate.in(samples.graph(), DType::kFloat, "sample_rate");
  return scope.add({scope.text("tag", scope.tag()), samples, rate}, {{"max_outputs", o.max_outputs}});
}

Output tensor(std::string_view name, Operand tensor, TensorOptions o) {
  return add_tensor({std::string(name), o.family, o.collections, o.where}, tensor.alone(), described(o));
}

Output text(std::string_view name, Operand tensor, TextOptions o) {
  const Output texts = tensor.alone();
  if (base_of(texts.dtype()) != DType::kString)
    throw InvalidArgument(cat("TensorSummaryV2 '", name, "': a text is made of strings, not of ",
                              texts.dtype(), " (", texts.name(), ")"),
                          o.where);
  return add_tensor({std::string(name), "", o.collections, o.where}, texts,
                    metadata_bytes({.plugin_name = "text"}));
}

}  // namespace summary
}  // namespace runnel
