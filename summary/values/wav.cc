// A header of 44 bytes and the samples, the lower byte first. Rounding is TensorFlow's: halves away from
// zero.
#include "summary/values/wav.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include "graph/error.h"

namespace runnel {
namespace {

constexpr std::int64_t kHeaderBytes = 44, kSampleBytes = 2, kMaxChannels = 65535;
constexpr std::int64_t kMaxSoundBytes = std::int64_t{1} << 30;  // more would not fit into an event
constexpr double kMaxByteRate = std::numeric_limits<std::uint32_t>::max();
constexpr std::int64_t kPlain = 1;  // the format of samples that are integers

void append_number(std::string& out, std::int64_t value, int bytes) {
  for (int shift = 0; shift < 8 * bytes; shift += 8) out += static_cast<char>(value >> shift & 0xff);
}

std::string header(std::int64_t data, std::int64_t channels, std::int64_t rate) {
  std::string out = "RIFF";
  append_number(out, data + kHeaderBytes - 8, 4);  // what follows
  out += "WAVEfmt ";
  append_number(out, 16, 4);  // bytes of the format
  append_number(out, kPlain, 2);
  append_number(out, channels, 2);
  append_number(out, rate, 4);
  append_number(out, rate * channels * kSampleBytes, 4);  // bytes a second
  append_number(out, channels * kSampleBytes, 2);         // bytes a frame
  append_number(out, 8 * kSampleBytes, 2);                // bits a sample
  out += "data";
  append_number(out, data, 4);
  return out;
}

void check(std::size_t samples, std::int64_t channels, float rate) {
  if (channels < 1 || channels > kMaxChannels)
    throw InvalidArgument(cat("a sound has 1 to ", kMaxChannels, " channels, not ", channels));
  if (!(rate > 0) || rate * static_cast<double>(channels * kSampleBytes) > kMaxByteRate)
    throw InvalidArgument(cat("a sound of ", channels, " channels cannot have a sample rate of ", rate,
                              "; give the samples of a second"));
  if (samples % static_cast<std::size_t>(channels) != 0)
    throw InvalidArgument(cat(samples, " samples are no whole frames of ", channels, " channels"));
  if (samples >= static_cast<std::size_t>(kMaxSoundBytes / kSampleBytes))
    throw InvalidArgument(cat("a sound of ", samples, " samples is too large: it may have 1 GiB"));
}

std::int64_t sample_of(float value) {
  return static_cast<std::int64_t>(std::clamp(std::round(value * 32768.0f), -32768.0f, 32767.0f));
}

}  // namespace

Wav wav_of(std::span<const float> samples, std::int64_t channels, float sample_rate) {
  check(samples.size(), channels, sample_rate);
  const auto data = static_cast<std::int64_t>(samples.size()) * kSampleBytes;
  Wav out{header(data, channels, std::max(1L, std::lrint(sample_rate)))};
  out.bytes.reserve(out.bytes.size() + static_cast<std::size_t>(data));
  for (const float value : samples) {
    out.nans += std::isnan(value);
    out.clamped += std::abs(value) > 1;
    append_number(out.bytes, std::isnan(value) ? 0 : sample_of(value), kSampleBytes);
  }
  return out;
}

std::string altered(const Wav& wav) {
  std::string out;
  if (wav.clamped > 0) out = cat(wav.clamped, " samples beyond -1 to 1 clamped");
  if (wav.nans > 0) out += cat(out.empty() ? "" : ", ", wav.nans, " NaN silenced");
  return out;
}

}  // namespace runnel
