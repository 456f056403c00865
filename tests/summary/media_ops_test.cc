// Builders of summary ops of pictures, sounds, tensors and texts: nodes, tags and refusals as TensorFlow's.
#include "summary/media_ops.h"

#include <doctest/doctest.h>

#include "graph/error.h"
#include "ops/array_ops.h"
#include "summary/values/media_value.h"

using namespace runnel;

namespace {

std::string text_of(const Output& constant) { return constant.node().tensor("value").scalar<std::string>(); }

Output pictures(Graph& g, const Shape& shape, DType type = DType::kFloat) {
  return placeholder(g, type, shape, "x");
}

}  // namespace

TEST_CASE("a picture's tag lies beside it, and it takes TensorFlow's attributes") {
  Graph g;
  const Output out = summary::image("im", pictures(g, {2, 4, 4, 3}), {.max_outputs = 1, .family = "fam"});
  CHECK(out.node().op() == "ImageSummary");
  CHECK(out.name() == "fam/im:0");
  CHECK(out.node().input(0).name() == "fam/im/tag:0");
  CHECK(text_of(out.node().input(0)) == "fam/fam/im");
  CHECK(out.node().integer("max_images") == 1);
  CHECK(out.node().tensor("bad_color") == Tensor::vector<std::uint8_t>({255, 0, 0, 255}));
  CHECK_FALSE(out.node().attr("_low"));
  CHECK(g.collection(keys::kSummaries).size() == 1);
}

TEST_CASE("a stated range is kept in attributes that TensorFlow passes over") {
  Graph g;
  const Output out = summary::image("im", pictures(g, {1, 4, 4, 1}), {.range = PixelRange{-1, 3}});
  CHECK(out.node().number("_low") == -1);
  CHECK(out.node().number("_high") == 3);
  CHECK_THROWS_AS(summary::image("im", pictures(g, {1, 4, 4, 1}), {.range = PixelRange{1, 1}}),
                  InvalidArgument);
  CHECK_THROWS_WITH_AS(
      summary::image("im", pictures(g, {1, 4, 4, 1}, DType::kUint8), {.range = PixelRange{0, 1}}),
      "ImageSummary 'im': bytes are pixels and have no range", InvalidArgument);
}

TEST_CASE("a sound has tag and rate beside it, and goes into the collections that are named") {
  Graph g;
  const Output sound = placeholder<float>(g, {1, 100}, "x");
  const Output out = summary::audio("au", sound, 8000, {.collections = {{"mine"}}});
  CHECK(out.node().op() == "AudioSummaryV2");
  CHECK(out.node().input(0).name() == "au/tag:0");
  CHECK(out.node().input(2).name() == "au/sample_rate:0");
  CHECK(out.node().input(2).node().tensor("value") == Tensor::scalar(8000.0f));
  CHECK(out.node().integer("max_outputs") == 3);
  CHECK(g.collection("mine").size() == 1);
  CHECK(g.collection(keys::kSummaries).empty());
}

TEST_CASE("a tensor's metadata lies beside it, with the texts that are given") {
  Graph g;
  const Output x = constant(g, Tensor::vector({1.0f}), {});
  const Output plain = summary::tensor("t t", x);
  CHECK(plain.node().op() == "TensorSummaryV2");
  CHECK(plain.node().input(2).name() == "t_t/serialized_summary_metadata:0");
  CHECK(text_of(plain.node().input(2)) == "");
  const Output said = summary::tensor("t", x,
                                      {.summary_description = "d",
                                       .summary_metadata = metadata_bytes({.plugin_name = "p"}),
                                       .display_name = "dn"});
  CHECK(text_of(said.node().input(2)) ==
        metadata_bytes({.plugin_name = "p", .display_name = "dn", .description = "d"}));
  CHECK_THROWS_AS(summary::tensor("t", x, {.summary_metadata = "\xff"}), InvalidArgument);
  CHECK_THROWS_AS(summary::tensor("t", x, {.display_name = "\xff"}), InvalidArgument);
}

TEST_CASE("a text is shown by the plugin text, and is made of strings") {
  Graph g;
  const Output out = summary::text("x y", constant(g, Tensor::scalar("a"), {}));
  CHECK(out.name() == "x_y:0");
  CHECK(text_of(out.node().input(0)) == "x_y");
  CHECK(text_of(out.node().input(2)) == "\n\x06\n\x04text");
  CHECK_THROWS_WITH_AS(summary::text("x", constant(g, Tensor::scalar(1), {.name = "n"})),
                       "TensorSummaryV2 'x': a text is made of strings, not of int32 (n:0)", InvalidArgument);
}

TEST_CASE("shapes that cannot be shown are refused where they are written") {
  Graph g;
  CHECK_THROWS_WITH_AS(summary::image("im", pictures(g, {1, 4, 4, 2})),
                       "ImageSummary 'im': a picture has 1 (grey), 3 (RGB) or 4 (RGBA) channels, the last "
                       "dimension: tag is string[] (im/tag:0), tensor is float[1,4,4,2] (x:0)",
                       InvalidArgument);
  CHECK_THROWS_AS(summary::image("im", pictures(g, {4, 4, 3})), InvalidArgument);
  CHECK_THROWS_AS(summary::image("im", pictures(g, {1, 4, 4, 3}, DType::kInt32)), InvalidArgument);
  CHECK_THROWS_AS(summary::image("im", pictures(g, {1, 4, 4, 3}), {.max_outputs = 0}), InvalidArgument);
  CHECK_THROWS_AS(summary::audio("au", placeholder<float>(g, {4}, "y"), 8000), InvalidArgument);
  CHECK_THROWS_AS(summary::audio("au", placeholder<double>(g, {1, 4}, "y"), 8000), InvalidArgument);
  CHECK_THROWS_AS(summary::text("", constant(g, Tensor::scalar("a"), {})), InvalidArgument);
}
