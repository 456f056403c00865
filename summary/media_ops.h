// Summary ops of pictures, sounds, tensors and texts: nodes that turn a tensor into a serialized Summary.
// Names, tags and collections are those of tf.summary (formats 7.1), as in summary_ops.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/dataflow.h"
#include "graph/location.h"
#include "ops/operand.h"
#include "summary/values/image.h"

namespace runnel::summary {

struct ImageOptions {
  std::int64_t max_outputs = 3;                                        // of a batch, so many are shown
  std::optional<std::vector<std::string>> collections = std::nullopt;  // not given: keys::kSummaries
  std::string family = "";  // groups tags in TensorBoard: tag and node are named "family/..."
  // The values that become black and white; not given: each picture is stretched by itself.
  std::optional<PixelRange> range = std::nullopt;
  Location where = Location::here();
};

struct AudioOptions {
  std::int64_t max_outputs = 3;
  std::optional<std::vector<std::string>> collections = std::nullopt;
  std::string family = "";
  Location where = Location::here();
};

struct TensorOptions {
  std::string summary_description = "";  // Markdown
  std::optional<std::vector<std::string>> collections = std::nullopt;
  std::string summary_metadata = "";  // a serialized SummaryMetadata: which plugin shows the tensor
  std::string family = "";
  std::string display_name = "";  // in place of the tag
  Location where = Location::here();
};

struct TextOptions {
  std::optional<std::vector<std::string>> collections = std::nullopt;
  Location where = Location::here();
};

// A batch of pictures, as PNG files. Numbers become pixels as image.h says; a pixel that is not finite is
// red. The tags are TAG/image/0, TAG/image/1, ..., or TAG/image if max_outputs is 1.
//
//   name     of node and tag
//   tensor   T[batch, height, width, channels]; channels: 1 grey, 3 RGB, 4 RGBA
//   returns  string[]: a serialized Summary
//   T        uint8 (pixels as they are), float, half, double
//   errors   InvalidArgument for another shape, a range that is empty or given for uint8, no pixels, or a
//            picture above 1 GiB: here when known, else from Session::run
//   grad     none: a string has no derivative
//   source   TensorFlow "ImageSummary", tf.summary.image; the range is ours
Output image(std::string_view name, Operand tensor, ImageOptions options = {});

// A batch of sounds, as WAV files of 16 bits. Samples beyond -1 to 1 are clamped, NaN is silence; how many
// they were is logged once a plan. The tags are TAG/audio/0, ..., or TAG/audio if max_outputs is 1.
//
//   name         of node and tag
//   tensor       float[batch, frames] or float[batch, frames, channels]
//   sample_rate  float[]: frames a second
//   returns      string[]: a serialized Summary
//   errors       InvalidArgument for another shape here when known, else from Session::run; from there too
//                for a rate that is not positive, and for more than 65535 channels
//   grad         none: a string has no derivative
//   source       TensorFlow "AudioSummaryV2", tf.summary.audio
Output audio(std::string_view name, Operand tensor, Operand sample_rate, AudioOptions options = {});

// A tensor as it is, with metadata that says what it is for.
//
//   name     of node and tag
//   tensor   T[...]
//   returns  string[]: a serialized Summary
//   T        any type with values
//   errors   InvalidArgument if summary_metadata is no SummaryMetadata message
//   grad     none: a string has no derivative
//   source   TensorFlow "TensorSummaryV2", tf.summary.tensor_summary
Output tensor(std::string_view name, Operand tensor, TensorOptions options = {});

// Texts as Markdown: a scalar is a page, a vector or matrix a table of cells.
//
//   name     of node and tag
//   tensor   string[...]
//   returns  string[]: a serialized Summary
//   errors   InvalidArgument if the tensor holds no strings
//   grad     none: a string has no derivative
//   source   TensorFlow "TensorSummaryV2", tf.summary.text
Output text(std::string_view name, Operand tensor, TextOptions options = {});

}  // namespace runnel::summary
