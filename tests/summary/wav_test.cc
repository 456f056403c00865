// WAV files: TensorFlow's bytes (golden/summaries), and what cannot be a sound.
#include "summary/values/wav.h"

#include <doctest/doctest.h>

#include <cmath>

#include "graph/error.h"
#include "tests/summary/golden_json.h"

using namespace runnel;

namespace {

Wav mono(const std::vector<float>& samples, float rate = 16000) { return wav_of(samples, 1, rate); }

std::int64_t number_at(const std::string& bytes, std::size_t at, int count) {
  std::int64_t out = 0;
  for (int i = count - 1; i >= 0; --i)
    out = out << 8 | static_cast<unsigned char>(bytes[at + static_cast<std::size_t>(i)]);
  return out;
}

std::vector<double> samples_of(const std::string& bytes) {
  std::vector<double> out;
  for (std::size_t at = 44; at < bytes.size(); at += 2)
    out.push_back(static_cast<std::int16_t>(number_at(bytes, at, 2)));
  return out;
}

}  // namespace

TEST_CASE("sounds have TensorFlow's headers and samples") {
  int compared = 0;
  const Json all = golden_json("summaries/summaries.json");
  for (const Json& entry : all.list_value().values()) {
    const Json& input = field(entry, "input");
    if (field(entry, "op").string_value() != "AudioSummaryV2" || !input.has_struct_value()) continue;
    CAPTURE(field(entry, "name").string_value());
    const auto shape = numbers(field(input, "shape"));
    const auto values = numbers(field(input, "values"));
    const std::vector<float> first(values.begin(),
                                   values.begin() + static_cast<int>(values.size() / shape[0]));
    const Wav wav = wav_of(first, shape.size() == 3 ? static_cast<std::int64_t>(shape[2]) : 1,
                           static_cast<float>(number(field(input, "sample_rate"))));
    const Json& want = field(entry, "values").list_value().values(0);
    CHECK(hex(wav.bytes.substr(0, 44)) == field(want, "header").string_value());
    CHECK(samples_of(wav.bytes) == numbers(field(want, "pcm")));
    ++compared;
  }
  CHECK(compared == 4);
}

TEST_CASE("samples beyond -1 to 1 are clamped and counted, NaN is silence") {
  const Wav wav = mono({1, -1, 0.5f, 2, 0, -INFINITY, NAN});
  CHECK(samples_of(wav.bytes) == std::vector<double>{32767, -32768, 16384, 32767, 0, -32768, 0});
  CHECK(wav.clamped == 2);
  CHECK(wav.nans == 1);
  CHECK(altered(wav) == "2 samples beyond -1 to 1 clamped, 1 NaN silenced");
  CHECK(altered(mono({1, -1})) == "");
  CHECK(altered(mono({NAN})) == "1 NaN silenced");
}

TEST_CASE("a second of 16 kHz is 32044 bytes long") {
  const Wav wav = mono(std::vector<float>(16000));
  CHECK(wav.bytes.size() == 32044);
  CHECK(number_at(wav.bytes, 4, 4) == 32036);
  CHECK(number_at(wav.bytes, 24, 4) == 16000);
  CHECK(mono({}).bytes.size() == 44);
}

TEST_CASE("a rate is rounded to the nearest whole one, 1 at least, as TensorFlow's") {
  for (const auto& [rate, whole] : {std::pair(44100.7f, 44101), {8000.2f, 8000}, {8001.5f, 8002}, {0.3f, 1}})
    CHECK(number_at(mono({0}, rate).bytes, 24, 4) == whole);
}

TEST_CASE("what cannot be a sound is refused") {
  CHECK_THROWS_WITH_AS(mono({0}, 0),
                       "a sound of 1 channels cannot have a sample rate of 0; give the samples of a second",
                       InvalidArgument);
  CHECK_THROWS_AS(mono({0}, -0.1f), InvalidArgument);
  CHECK_THROWS_AS(mono({0}, NAN), InvalidArgument);
  CHECK_THROWS_AS(mono({0}, 3e9f), InvalidArgument);
  CHECK_THROWS_AS(wav_of(std::vector<float>(4), 0, 8000), InvalidArgument);
  CHECK_THROWS_AS(wav_of({}, 65536, 8000), InvalidArgument);
  CHECK_THROWS_WITH_AS(wav_of(std::vector<float>(3), 2, 8000), "3 samples are no whole frames of 2 channels",
                       InvalidArgument);
}
