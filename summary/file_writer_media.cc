// The methods of FileWriter for pictures, sounds, texts and tensors.
#include <utility>
#include <vector>

#include "graph/error.h"
#include "graph/utf8.h"
#include "summary/events/event.h"
#include "summary/file_writer.h"
#include "summary/values/encoded_image.h"
#include "summary/values/image.h"
#include "summary/values/media_value.h"
#include "summary/values/png.h"
#include "summary/values/wav.h"

namespace runnel {
namespace {

constexpr std::uint8_t kRed[] = {255, 0, 0, 255};

// What make() returns; an error of it says which value it was.
template <class Make>
auto made(const char* kind, const std::string& tag, std::int64_t step, Make make) {
  require_tag(tag);
  try {
    return make();
  } catch (const Error& error) {
    throw_error(error.code(), cat(kind, " '", tag, "' at step ", step, ": ", error.message()));
  }
}

// The values of each picture as a file of its own. Throws unless there are as many values as the options say.
template <class T, class ToPng>
std::vector<EncodedImage> encoded(std::span<const T> values, const ImageOptions& o, ToPng to_png) {
  const ImageSize size{o.height, o.width, o.channels};
  const std::size_t each = pixel_bytes(size);
  if (o.images < 1 || values.size() % each != 0 || values.size() / each != static_cast<std::size_t>(o.images))
    throw InvalidArgument(cat(values.size(), " values are not ", o.images, " pictures of height ", o.height,
                              ", width ", o.width, " and ", o.channels, " channels"));
  std::vector<EncodedImage> out;
  for (std::size_t at = 0; at < values.size(); at += each)
    out.push_back({size, to_png(values.subspan(at, each), size)});
  return out;
}

// The Text page fails as a whole when one of its strings is no UTF-8.
std::string described_value(const std::string& tag, const Tensor& value, const TensorMetadata& metadata) {
  if (metadata.plugin_name == "text" && value.dtype() == DType::kString)
    for (std::int64_t i = 0; const std::string& text : value.values<std::string>()) {
      if (!is_utf8(text))
        throw InvalidArgument(cat("string ", i, " of ", value.shape(),
                                  " is no UTF-8, which TensorBoard cannot show: convert it"));
      ++i;
    }
  return tensor_value(tag, value, metadata_bytes(metadata));
}

}  // namespace

void FileWriter::image(const std::string& tag, std::span<const std::uint8_t> pixels,
                       const ImageOptions& options, std::int64_t step) {
  add_images(tag, made("image", tag, step, [&] { return encoded(pixels, options, png_of); }), step);
}

void FileWriter::image(const std::string& tag, std::span<const float> values, const ImageOptions& options,
                       std::int64_t step) {
  const auto to_png = [&](std::span<const float> one, const ImageSize& size) {
    return png_of(pixels_of(one, static_cast<int>(size.channels), kRed, options.range), size);
  };
  add_images(tag, made("image", tag, step, [&] { return encoded(values, options, to_png); }), step);
}

void FileWriter::encoded_image(const std::string& tag, std::string_view file, std::int64_t step) {
  const ImageSize size = made("image", tag, step, [&] { return encoded_image_size(file); });
  add_image(tag, size, file, step);
}

void FileWriter::add_images(const std::string& tag, std::vector<EncodedImage> images, std::int64_t step) {
  if (images.size() == 1) return add_image(tag, images[0].size, images[0].file, step);
  add_own_summary(made("image", tag, step, [&] { return image_batch_value(tag, std::move(images)); }), step);
}

void FileWriter::audio(const std::string& tag, std::span<const float> samples, const AudioOptions& options,
                       std::int64_t step) {
  std::string what;
  const auto value = [&] {
    Wav wav = wav_of(samples, options.channels, options.sample_rate);
    what = altered(wav);
    const auto frames = static_cast<std::int64_t>(samples.size()) / options.channels;
    return audio_value(tag, {options.sample_rate, options.channels, frames, std::move(wav.bytes)});
  };
  add_own_summary(made("audio", tag, step, value), step);
  if (!what.empty())
    warn_once(tag, cat("audio '", tag, "' at step ", step, ": ", what, "; this is said once a tag"));
}

void FileWriter::text(const std::string& tag, const std::string& markdown, std::int64_t step,
                      const TextOptions& options) {
  text(tag, Tensor::scalar(markdown), step, options);
}

void FileWriter::text(const std::string& tag, const Tensor& cells, std::int64_t step,
                      const TextOptions& options) {
  if (cells.dtype() != DType::kString)
    throw InvalidArgument(cat("text '", tag, "' at step ", step, ": a text is made of strings, not of ",
                              cells.dtype(), cells.shape()));
  const TensorMetadata metadata = {
      .plugin_name = "text", .display_name = options.display_name, .description = options.description};
  add_own_summary(made("text", tag, step, [&] { return described_value(tag, cells, metadata); }), step);
}

void FileWriter::tensor(const std::string& tag, const Tensor& value, std::int64_t step,
                        const TensorMetadata& metadata) {
  add_own_summary(made("tensor", tag, step, [&] { return described_value(tag, value, metadata); }), step);
}

}  // namespace runnel
