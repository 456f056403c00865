// Serialized pictures, sounds and tensors, byte for byte what TensorFlow's summary ops return
// (golden/summaries).
#include "summary/values/media_value.h"

#include <doctest/doctest.h>

#include <complex>

#include "graph/error.h"
#include "graph/float16.h"
#include "runnel/summary.pb.h"
#include "summary/values/wav.h"
#include "tests/summary/golden_json.h"

using namespace runnel;

namespace {

// The bytes that TensorFlow gave for the case, in hex.
std::string golden_hex(const std::string& name) {
  return field(golden_summary(name), "summary_hex").string_value();
}

pb::Summary parsed(const std::string& summary) {
  pb::Summary out;
  REQUIRE(out.ParseFromString(summary));
  return out;
}

std::string text_hex(const Tensor& text) {
  return hex(tensor_value("x", text, metadata_bytes({.plugin_name = "text"})));
}

}  // namespace

TEST_CASE("tensors have TensorFlow's bytes, a scalar's too, and metadata even when it is empty") {
  CHECK(hex(tensor_value("t", Tensor::vector({1.0f, 2.0f}), "")) == golden_hex("tensor"));
  CHECK(hex(tensor_value("t", Tensor::scalar(5), "")) == golden_hex("tensor_int_scalar"));
  CHECK(hex(tensor_value("t", Tensor::vector<std::string>({"a", "b"}),
                         metadata_bytes({.display_name = "disp", .description = "desc"}))) ==
        golden_hex("tensor_described"));
}

TEST_CASE("numbers of every kind are written as they lie in memory, equal strings each") {
  const auto content = [](const Tensor& tensor) { return hex(tensor_value("t", tensor, "")); };
  CHECK(content(Tensor::vector<bool>({true, false})) ==
        "0a130a017442"
        "0c080a12041202080222020100"
        "4a00");
  CHECK(content(Tensor::vector({nearest_half(1), nearest_half(2)})) ==
        "0a150a0174420e0813120412020802"
        "2204003c0040"
        "4a00");
  CHECK(content(Tensor::vector<std::complex<double>>({{1, 2}})) ==
        "0a210a0174421a08121204120208012210000000000000f03f00000000000000404a00");
  CHECK(content(Tensor::vector<std::string>({"a", "a", "a"})) ==
        "0a180a017442110807120412020803420161420161420161"
        "4a00");
  CHECK(content(Tensor::zeros(DType::kFloat, Shape{0, 3})) == "0a110a0174420a080112061200120208034a00");
}

TEST_CASE("the older form has the node's name alone") {
  CHECK(hex(node_tensor_value("tv1", Tensor::vector({1.0f, 2.0f}))) ==
        "0a193a03747631421208011204120208022208"
        "0000803f00000040");
}

TEST_CASE("texts have TensorFlow's bytes") {
  CHECK(text_hex(Tensor::scalar("hello *world*")) == golden_hex("text_scalar"));
  CHECK(text_hex(Tensor::matrix<std::string>({{"a", "b"}, {"c", "d"}})) == golden_hex("text_table"));
  CHECK(text_hex(Tensor::scalar("h\u00e9llo \u4e16")) == golden_hex("text_utf8"));
}

TEST_CASE("sounds have TensorFlow's bytes, numbered or alone") {
  const std::vector<float> one = {0, 0.5f, -0.5f, 1}, two = {0.1f, 0.2f, 0.3f, 0.4f};
  const auto sound = [](const std::vector<float>& samples) {
    return EncodedSound{44100, 2, 2, wav_of(samples, 2, 44100).bytes};
  };
  CHECK(hex(audio_values("a", {sound(one), sound(two)}, 3)) == golden_hex("audio_stereo"));
  CHECK(hex(audio_values("a", {sound(one)}, 1)) == golden_hex("audio_one"));
  CHECK(parsed(audio_value("a", sound(one))).value(0).tag() == "a");
}

TEST_CASE("pictures are numbered unless one at most is wanted") {
  const EncodedImage image{{2, 3, 1}, "file"};
  const pb::Summary several = parsed(image_values("i", {image, image}, 2));
  REQUIRE(several.value_size() == 2);
  CHECK(several.value(1).tag() == "i/image/1");
  CHECK(several.value(1).image().height() == 2);
  CHECK(several.value(1).image().width() == 3);
  CHECK(several.value(1).image().colorspace() == 1);
  CHECK(several.value(1).image().encoded_image_string() == "file");
  CHECK_FALSE(several.value(1).has_metadata());
  CHECK(parsed(image_values("i", {image}, 2)).value(0).tag() == "i/image/0");
  CHECK(parsed(image_values("i", {image}, 1)).value(0).tag() == "i/image");
  CHECK(image_value_head("i/image", image.size, 4) + "file" == image_values("i", {image}, 1));
  CHECK(parsed(image_value_head("", image.size, 4) + "file").value(0).image().height() == 2);
  CHECK(image_values("i", {}, 3) == "");
}

TEST_CASE("a batch of pictures is one tensor of width, height and files") {
  const pb::Summary batch = parsed(image_batch_value("i", {{{2, 3, 1}, "one"}, {{2, 3, 1}, "two"}}));
  const pb::Summary::Value& value = batch.value(0);
  CHECK(value.metadata().plugin_data().plugin_name() == "images");
  CHECK(value.tensor().tensor_shape().dim(0).size() == 4);
  CHECK(value.tensor().string_val(0) == "3");
  CHECK(value.tensor().string_val(1) == "2");
  CHECK(value.tensor().string_val(3) == "two");
  CHECK_THROWS_AS(image_batch_value("i", {}), InvalidArgument);
}

TEST_CASE("metadata that is none is refused, and a dtype without values") {
  CHECK_THROWS_WITH_AS(tensor_value("t", Tensor::scalar(1), "\xff"),
                       "tensor 't': these 1 bytes of metadata are no SummaryMetadata message",
                       InvalidArgument);
  CHECK_THROWS_AS(tensor_value("t", Tensor(), ""), Unimplemented);
  CHECK_THROWS_AS(metadata_bytes({.display_name = "\xff"}), InvalidArgument);
  CHECK_THROWS_AS(metadata_bytes({.description = "\xff"}), InvalidArgument);
}
