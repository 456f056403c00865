// FileWriter's pictures, sounds, texts and tensors: what is written, and what is refused with tag and step.
#include <doctest/doctest.h>

#include <cmath>

#include "graph/io/memory_file_system.h"
#include "graph/log.h"
#include "summary/file_writer.h"
#include "tests/summary/golden_json.h"
#include "tests/summary/png_reading.h"
#include "tests/summary/reading.h"

using namespace runnel;

namespace {

using Bytes = std::vector<std::uint8_t>;

// The values that `write` brings into the file, and the steps they have.
template <class Write>
std::vector<pb::Event> written(Write write) {
  MemoryFileSystem files;
  ManualClock clock;
  FileWriter writer("logs", {.clock = &clock, .files = &files});
  write(writer);
  writer.close();
  return events_in(files, "logs");
}

template <class Write>
pb::Summary::Value only_value(Write write) {
  const auto events = written(write);
  REQUIRE(events.size() == 1);
  REQUIRE(events[0].summary().value_size() == 1);
  return events[0].summary().value(0);
}

}  // namespace

TEST_CASE("pixels become a PNG under the tag itself, at the step") {
  const Bytes pixels = {0, 255, 7, 128};
  const auto events = written([&](FileWriter& w) { w.image("in", pixels, {.height = 2, .width = 2}, 7); });
  REQUIRE(events.size() == 1);
  CHECK(events[0].step() == 7);
  const pb::Summary::Value& value = events[0].summary().value(0);
  CHECK(value.tag() == "in");
  CHECK(value.image().colorspace() == 1);
  CHECK(decoded_png(value.image().encoded_image_string()).pixels == pixels);
}

TEST_CASE("floats become pixels by the stated range, which is 0 to 1 unless said otherwise") {
  const std::vector<float> values = {0, 0.5f, 2, NAN};
  const auto shown = [&](std::optional<PixelRange> range) {
    const auto value = only_value(
        [&](FileWriter& w) { w.image("in", values, {.height = 1, .width = 4, .range = range}, 1); });
    return decoded_png(value.image().encoded_image_string()).pixels;
  };
  CHECK(shown(ImageOptions().range) == Bytes{0, 128, 255, 255});
  CHECK(shown(PixelRange{0, 4}) == Bytes{0, 32, 128, 255});
  CHECK(shown(std::nullopt) == Bytes{0, 63, 255, 255});  // its own, as TensorFlow
}

TEST_CASE("several pictures are one value that shows them side by side") {
  const Bytes pixels = {1, 2, 3, 4, 5, 6};
  const auto value =
      only_value([&](FileWriter& w) { w.image("in", pixels, {.height = 1, .width = 2, .images = 3}, 1); });
  CHECK(value.tag() == "in");
  CHECK(value.metadata().plugin_data().plugin_name() == "images");
  CHECK(value.tensor().string_val(0) == "2");
  CHECK(value.tensor().string_val(1) == "1");
  CHECK(decoded_png(value.tensor().string_val(4)).pixels == Bytes{5, 6});
}

TEST_CASE("a ready file is written as it is") {
  const std::string file = png_of(Bytes(12), {1, 4, 3});
  const auto value = only_value([&](FileWriter& w) { w.encoded_image("in", file, 1); });
  CHECK(value.image().encoded_image_string() == file);
  CHECK(value.image().width() == 4);
  CHECK(value.image().colorspace() == 3);
}

TEST_CASE("a sound is a WAV file of its rate, and clamping is logged once a tag") {
  std::vector<std::string> lines;
  const ScopedLogSink sink([&](LogLevel, const std::string& line) { lines.push_back(line); });
  const std::vector<float> samples = {0, 2, -2, 1};
  const auto events = written([&](FileWriter& w) {
    w.audio("hum", samples, {.sample_rate = 8000, .channels = 2}, 3);
    w.audio("hum", samples, {.sample_rate = 8000, .channels = 2}, 4);
  });
  const pb::Summary::Audio& audio = events.at(0).summary().value(0).audio();
  CHECK(audio.sample_rate() == 8000);
  CHECK(audio.num_channels() == 2);
  CHECK(audio.length_frames() == 2);
  CHECK(audio.content_type() == "audio/wav");
  CHECK(audio.encoded_audio_string().size() == 44 + 8);
  CHECK(lines == std::vector<std::string>{
                     "audio 'hum' at step 3: 2 samples beyond -1 to 1 clamped; this is said once a tag"});
}

TEST_CASE("texts and tables have the bytes of tf.summary.text") {
  const auto bytes = [](auto text) {
    pb::Summary summary;
    *summary.add_value() = only_value([&](FileWriter& w) { w.text("x", text, 1); });
    return hex(summary.SerializeAsString());
  };
  CHECK(bytes("hello *world*") == field(golden_summary("text_scalar"), "summary_hex").string_value());
  CHECK(bytes(Tensor::matrix<std::string>({{"a", "b"}, {"c", "d"}})) ==
        field(golden_summary("text_table"), "summary_hex").string_value());
}

TEST_CASE("a tensor says once a file what it is for") {
  const auto events = written([&](FileWriter& w) {
    for (const int step : {1, 2})
      w.tensor("t", Tensor::vector({1.0f, 2.0f}), step,
               {.plugin_name = "mine", .display_name = "T", .data_class = DataClass::kTensor});
  });
  REQUIRE(events.size() == 2);
  const pb::SummaryMetadata& metadata = events[0].summary().value(0).metadata();
  CHECK(metadata.plugin_data().plugin_name() == "mine");
  CHECK(metadata.display_name() == "T");
  CHECK(metadata.data_class() == pb::DATA_CLASS_TENSOR);
  CHECK_FALSE(events[1].summary().value(0).has_metadata());
  CHECK(events[1].summary().value(0).tensor().tensor_content().size() == 8);
}

TEST_CASE("what cannot be shown is refused with tag and step, and nothing is written") {
  const Bytes pixels(6);
  const std::vector<float> samples(3), values(4);
  const auto events = written([&](FileWriter& w) {
    CHECK_THROWS_WITH_AS(
        w.image("in", pixels, {.height = 2, .width = 2}, 7),
        "image 'in' at step 7: 6 values are not 1 pictures of height 2, width 2 and 1 channels",
        InvalidArgument);
    CHECK_THROWS_AS(w.image("in", pixels, {.height = 1, .width = 3, .channels = 2}), InvalidArgument);
    CHECK_THROWS_AS(w.image("in", pixels, {.height = 1, .width = 2, .images = 0}), InvalidArgument);
    CHECK_THROWS_AS(w.image("in", pixels, {}), InvalidArgument);
    CHECK_THROWS_AS(w.image("in", values, {.height = 2, .width = 2, .range = PixelRange{1, 0}}),
                    InvalidArgument);
    CHECK_THROWS_AS(w.encoded_image("in", "GIF89a"), InvalidArgument);
    CHECK_THROWS_WITH_AS(
        w.audio("hum", samples, {}, 2),
        "audio 'hum' at step 2: a sound of 1 channels cannot have a sample rate of 0; give the "
        "samples of a second",
        InvalidArgument);
    CHECK_THROWS_AS(w.audio("hum", samples, {.sample_rate = 8000, .channels = 2}), InvalidArgument);
    CHECK_THROWS_AS(w.audio("hum", samples, {.sample_rate = 8000, .channels = 0}), InvalidArgument);
    CHECK_THROWS_WITH_AS(w.text("x", Tensor::vector({1, 2}), 3),
                         "text 'x' at step 3: a text is made of strings, not of int32[2]", InvalidArgument);
    CHECK_THROWS_AS(w.tensor("t", Tensor()), Unimplemented);
    CHECK_THROWS_AS(w.text("\xff", "no tag that a reader takes"), InvalidArgument);
  });
  CHECK(events.empty());
}

TEST_CASE("a text, of a table too, or a plugin's name that is no UTF-8 is refused with its tag") {
  CHECK(written([](FileWriter& w) {
          CHECK_THROWS_WITH_AS(w.text("note", "\xff", 3),
                               "text 'note' at step 3: string 0 of [] is no UTF-8, which TensorBoard cannot "
                               "show: convert it",
                               InvalidArgument);
          const Tensor table = Tensor::matrix<std::string>({{"a", "b"}, {"c", "d\xc3"}});
          CHECK_THROWS_WITH_AS(w.text("table", table, 3),
                               "text 'table' at step 3: string 3 of [2,2] is no UTF-8, which TensorBoard "
                               "cannot show: convert it",
                               InvalidArgument);
          CHECK_THROWS_AS(w.tensor("t", Tensor::scalar<std::string>("\xff"), 3, {.plugin_name = "text"}),
                          InvalidArgument);
          CHECK_THROWS_WITH_AS(w.tensor("named", Tensor::scalar(1), 3, {.plugin_name = "\xff"}),
                               "tensor 'named' at step 3: plugin_name is no UTF-8, so TensorBoard would drop "
                               "the event: '\xff'",
                               InvalidArgument);
        }).empty());
  CHECK(written([](FileWriter& w) { w.tensor("bytes", Tensor::scalar<std::string>("\xff"), 3); }).size() ==
        1);
}
