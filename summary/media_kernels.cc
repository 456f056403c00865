// Kernels of the summary ops of pictures, sounds and tensors. They run once a summary, not once a step, so
// they may allocate.
#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "graph/error.h"
#include "graph/kernel.h"
#include "graph/log.h"
#include "summary/values/image.h"
#include "summary/values/media_value.h"
#include "summary/values/png.h"
#include "summary/values/wav.h"

namespace runnel {
namespace {

// What the kernel of pictures reads when it is bound.
struct Pictures {
  std::size_t count = 0;
  std::int64_t most = 0;
  ImageSize size;
  std::vector<std::uint8_t> bad_color;
  std::optional<PixelRange> range;

  template <class T>
  std::string encoded(std::span<const T> values) const {
    if constexpr (std::is_same_v<T, std::uint8_t>)
      return png_of(values, size);
    else
      return png_of(pixels_of(values, static_cast<int>(size.channels), bad_color, range), size);
  }
};

std::vector<std::uint8_t> bad_color_of(const Bind& b, std::int64_t channels) {
  const Tensor& color = b.node().tensor("bad_color");
  if (color.dtype() != DType::kUint8 || color.shape().rank() != 1 || color.elements() < channels)
    throw InvalidArgument(cat("bad_color is ", color.dtype(), color.shape(), ", not a uint8 for each of the ",
                              channels, " channels"));
  const auto values = color.values<std::uint8_t>();
  return {values.begin(), values.end()};
}

Pictures pictures_of(const Bind& b) {
  const Shape& shape = b.input("tensor").shape;
  Pictures out{.most = b.integer("max_images"), .size = {shape[1], shape[2], shape[3]}};
  out.count = static_cast<std::size_t>(std::min(shape[0], out.most));
  if (out.count > 0) pixel_bytes(out.size);
  out.bad_color = bad_color_of(b, out.size.channels);
  if (b.node().attr("_low") && b.node().attr("_high")) {
    out.range = PixelRange{b.number("_low"), b.number("_high")};
    check_range(*out.range);
  }
  return out;
}

const KernelRegistration kImageSummary{
    "ImageSummary", on<std::uint8_t, float, Half, double>, []<class T>(Bind& b) {
      b.run([pictures = pictures_of(b), tag = b.in<std::string>("tag"), tensor = b.in<T>("tensor"),
             out = b.out<std::string>("summary")](Context& c) {
        const std::size_t n = pictures.count > 0 ? pixel_bytes(pictures.size) : 0;
        std::vector<EncodedImage> images;
        for (std::size_t i = 0; i < pictures.count; ++i)
          images.push_back({pictures.size, pictures.encoded(std::span<const T>(c[tensor] + i * n, n))});
        *c[out] = image_values(*c[tag], std::move(images), pictures.most);
      });
    }};

const KernelRegistration kAudioSummary{
    "AudioSummaryV2", any, [](Bind& b) {
      const Shape& shape = b.input("tensor").shape;
      const std::int64_t most = b.integer("max_outputs"), frames = shape[1];
      const std::int64_t channels = shape.rank() == 3 ? shape[2] : 1, count = std::min(shape[0], most);
      b.run([=, warned = std::make_shared<std::atomic<bool>>(false), tag = b.in<std::string>("tag"),
             tensor = b.in<float>("tensor"), rate = b.in<float>("sample_rate"),
             out = b.out<std::string>("summary")](Context& c) {
        const auto n = static_cast<std::size_t>(frames * channels);
        std::vector<EncodedSound> sounds;
        for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
          Wav wav = wav_of({c[tensor] + i * n, n}, channels, *c[rate]);
          if (const std::string what = altered(wav); !what.empty() && !warned->exchange(true))
            log_warning(cat("sound '", *c[tag], "': ", what, "; this is said once"));
          sounds.push_back({*c[rate], channels, frames, std::move(wav.bytes)});
        }
        *c[out] = audio_values(*c[tag], std::move(sounds), most);
      });
    }};

// The input as a tensor, whatever its type.
In<std::byte> whole(const Bind& b) { return b.in<std::byte>("tensor"); }

const KernelRegistration kTensorSummaryV2{
    "TensorSummaryV2", any, [](Bind& b) {
      b.run([tag = b.in<std::string>("tag"), tensor = whole(b),
             metadata = b.in<std::string>("serialized_summary_metadata"),
             out = b.out<std::string>("summary")](Context& c) {
        *c[out] = tensor_value(*c[tag], c.tensor(tensor.slot), *c[metadata]);
      });
    }};

const KernelRegistration kTensorSummary{
    "TensorSummary", any, [](Bind& b) {
      b.run([name = b.node().name(), tensor = whole(b), out = b.out<std::string>("summary")](Context& c) {
        *c[out] = node_tensor_value(name, c.tensor(tensor.slot));
      });
    }};

}  // namespace
}  // namespace runnel
