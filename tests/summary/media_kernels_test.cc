// Summary ops of pictures, sounds and tensors in a session: what TensorFlow's give for the golden inputs, and
// what a step refuses.
#include <doctest/doctest.h>

#include <cmath>

#include "graph/graph.h"
#include "graph/log.h"
#include "ops/array_ops.h"
#include "runnel/summary.pb.h"
#include "summary/media_ops.h"
#include "summary/values/media_value.h"
#include "tests/summary/golden_json.h"
#include "tests/summary/png_reading.h"

using namespace runnel;

namespace {

std::string evaluate(const Output& summary, std::initializer_list<Feed> feeds = {}) {
  Session session(summary.graph());
  return session.run(summary, feeds).scalar<std::string>();
}

pb::Summary parsed(const std::string& summary) {
  pb::Summary out;
  REQUIRE(out.ParseFromString(summary));
  return out;
}

const Tensor kBatch = Tensor::from<float>(Shape{4, 1, 2, 1}, {0, 1, 0, 10, -1, 1, 5, 5});

// Tag and pixels in hex of each value.
std::string shown(const pb::Summary& summary) {
  std::string out;
  for (const pb::Summary::Value& value : summary.value())
    out += value.tag() + " " + hex(decoded_png(value.image().encoded_image_string()).pixels) + ", ";
  return out;
}

// The same of TensorFlow's values.
std::string golden_shown(const std::string& name) {
  std::string out;
  const Json entry = golden_summary(name);
  for (const Json& value : field(entry, "values").list_value().values())
    out += field(value, "tag").string_value() + " " + field(value, "pixels").string_value() + ", ";
  return out;
}

Tensor sound(const std::vector<float>& samples) {
  return Tensor::from(Shape{1, static_cast<std::int64_t>(samples.size())}, samples);
}

}  // namespace

TEST_CASE("a batch is shown up to max_outputs, each picture stretched by itself") {
  for (const auto& [name, most] : {std::pair("image_batch", 3), {"image_one", 1}, {"image_two", 2}}) {
    Graph g;
    const Output x = constant(g, kBatch, {});
    CHECK(shown(parsed(evaluate(summary::image("i", x, {.max_outputs = most})))) == golden_shown(name));
  }
}

TEST_CASE("bytes are pixels as they are, in every number of channels") {
  for (const char* name : {"image_u8_grey", "image_u8_rgb", "image_u8_rgba"}) {
    const Json entry = golden_summary(name);
    std::vector<std::uint8_t> values;
    std::vector<std::int64_t> shape;
    for (const double value : numbers(field(field(entry, "input"), "values")))
      values.push_back(static_cast<std::uint8_t>(value));
    for (const double dim : numbers(field(field(entry, "input"), "shape")))
      shape.push_back(static_cast<std::int64_t>(dim));
    Graph g;
    CHECK(shown(parsed(evaluate(summary::image("i", constant(g, Tensor::from(Shape(shape), values), {}))))) ==
          golden_shown(name));
  }
}

TEST_CASE("with a range all pictures of a batch are stretched alike") {
  Graph g;
  const Output x = constant(g, kBatch, {});
  CHECK(shown(parsed(evaluate(summary::image("i", x, {.max_outputs = 4, .range = PixelRange{0, 10}})))) ==
        "i/image/0 001a, i/image/1 00ff, i/image/2 001a, i/image/3 8080, ");
}

TEST_CASE("another bad colour is taken, if it has a byte for each channel") {
  const auto made = [](const Tensor& color) {
    Graph g;
    const Output x = constant(g, Tensor::from<float>(Shape{1, 1, 2, 3}, {NAN, 1, 1, 1, 0.5f, 0}), {});
    const Output tag = constant(g, Tensor::scalar("i"), {});
    return shown(parsed(evaluate(g.add("ImageSummary", {tag, x}, {{"bad_color", color}}))));
  };
  CHECK(made(Tensor::vector<std::uint8_t>({1, 2, 3})) == golden_shown("image_bad_color"));
  CHECK_THROWS_AS(made(Tensor::vector<std::uint8_t>({1, 2})), InvalidArgument);
  CHECK_THROWS_AS(made(Tensor::vector<float>({1, 2, 3})), InvalidArgument);
}

TEST_CASE("no pictures give an empty summary; pictures without pixels are refused") {
  Graph g;
  const Output x = placeholder<float>(g, Shape::unknown(), "x");
  const Output out = summary::image("i", x);
  CHECK(evaluate(out, {{x, Tensor::zeros(DType::kFloat, Shape{0, 2, 2, 1})}}) == "");
  CHECK_THROWS_AS(evaluate(out, {{x, Tensor::zeros(DType::kFloat, Shape{1, 0, 2, 1})}}), InvalidArgument);
  CHECK_THROWS_AS(evaluate(out, {{x, Tensor::zeros(DType::kFloat, Shape{1, 2, 2, 2})}}), InvalidArgument);
}

TEST_CASE("a sound has TensorFlow's bytes; what was clamped is logged once for all steps of a plan") {
  Graph g;
  std::vector<std::string> lines;
  const ScopedLogSink sink([&](LogLevel, const std::string& line) { lines.push_back(line); });
  const Output x = placeholder<float>(g, {1, 8}, "x");
  const Output out = summary::audio("a", x, 8000);
  Session session(g);
  const Tensor samples = sound({0, 0.5f, -0.5f, 1, -1, 2, -2, 0.25f});
  for (int i = 0; i < 2; ++i)
    CHECK(hex(session.run(out, {{x, samples}}).scalar<std::string>()) ==
          field(golden_summary("audio_mono"), "summary_hex").string_value());
  CHECK(lines == std::vector<std::string>{"sound 'a': 2 samples beyond -1 to 1 clamped; this is said once"});
}

TEST_CASE("a sound without a rate ends the step with the node's name") {
  Graph g;
  const Output out = summary::audio("a", constant(g, sound({0}), {}), 0);
  CHECK_THROWS_WITH_AS(
      evaluate(out),
      "AudioSummaryV2 'a': a sound of 1 channels cannot have a sample rate of 0; give the samples "
      "of a second",
      InvalidArgument);
  const Output none = constant(g, Tensor::zeros(DType::kFloat, Shape{1, 2, 0}), {});
  CHECK_THROWS_AS(evaluate(summary::audio("b", none, 8000)), InvalidArgument);
}

TEST_CASE("tensors and texts are written as value.h says, whatever they hold") {
  Graph g;
  const Tensor words = Tensor::vector<std::string>({"a", "b"}),
               numbers = Tensor::vector<std::int64_t>({1, 2});
  CHECK(evaluate(summary::tensor("t", constant(g, words, {}), {.display_name = "d"})) ==
        tensor_value("t", words, metadata_bytes({.display_name = "d"})));
  CHECK(evaluate(summary::tensor("n", constant(g, numbers, {}))) == tensor_value("n", numbers, ""));
  CHECK(evaluate(summary::text("w", constant(g, words, {}))) ==
        tensor_value("w", words, metadata_bytes({.plugin_name = "text"})));
  CHECK(evaluate(g.add("TensorSummary", {constant(g, numbers, {})}, {}, "old")) ==
        node_tensor_value("old", numbers));
}
