// Sounds as WAV files of 16-bit samples, which every browser plays. The bytes equal those of TensorFlow's
// AudioSummaryV2. Source: formats 7.4. Left out: other sample formats, compression.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace runnel {

struct Wav {
  std::string bytes;
  std::int64_t clamped = 0;  // samples beyond -1 to 1, which became the loudest there are
  std::int64_t nans = 0;     // samples that are NaN, which became silence
};

// Samples from -1 to 1, the channels of a frame side by side. Throws InvalidArgument for a rate that is
// not positive or that the header cannot hold, for channels outside 1..65535, samples that are no whole
// frames, and for 1 GiB of sound or more.
Wav wav_of(std::span<const float> samples, std::int64_t channels, float sample_rate);

// "2 samples beyond -1 to 1 clamped, 1 NaN silenced"; empty if all samples are as they were.
std::string altered(const Wav& wav);

}  // namespace runnel
