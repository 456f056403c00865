// Slices: their text, their keys against TensorFlow's, and copying between boxes.
#include "train/checkpoint/tensor_slice.h"

#include <doctest/doctest.h>

using namespace runnel;

namespace {

std::string hex(const std::string& bytes) {
  std::string out;
  for (const unsigned char c : bytes) {
    out += "0123456789abcdef"[c >> 4];
    out += "0123456789abcdef"[c & 15];
  }
  return out;
}

}  // namespace

TEST_CASE("a slice's text gives the full shape and the box, and turns back") {
  const auto spec = parse_slice_spec("10 2 4,3:0,2");
  REQUIRE(spec);
  CHECK(spec->full == Shape{10, 2});
  CHECK(spec->slice.shape() == Shape{3, 2});
  CHECK(spec->slice.text() == "4,3:0,2");
  CHECK(parse_slice_spec("3 4 -:1,2")->slice.text() == "-:1,2");
  for (const char* whole : {"", "2 2 0,2:0,2", "2 2 -:-", "4 0,4"}) CHECK_FALSE(parse_slice_spec(whole));
}

TEST_CASE("text that is no slice, or one outside of the shape, is refused") {
  for (const char* text :
       {"x", "4", "4 0", "4 0,", "4 0,5", "4 3,2", "4 -1,2", "4 0,2:0,1", " 0,1", "4  0,2", "4 0,2 ",
        "99999999999999999999 0,1", "4 9223372036854775807,9223372036854775807"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(parse_slice_spec(text), InvalidArgument);
  }
}

TEST_CASE("keys of slices are TensorFlow's") {
  const auto key = [](const std::string& name, std::vector<TensorSlice::Extent> extents) {
    return hex(slice_key(name, TensorSlice{std::move(extents)}));
  };
  CHECK(key("by3", {{4, 3}, {0, 2}}) ==
        "00627933000101028483"
        "8082");
  CHECK(key("col", {{0, 2}, {100, 100}}) == "00636f6c000101028082c064c064");
  CHECK(key("part", {{0, -1}, {1, 2}}) ==
        "0070617274000101"
        "02807f8182");
  CHECK(key(std::string("nul\0name", 8), {{0, 2}}) == "006e756c00ff6e616d65000101018082");
  CHECK(key(std::string("ff\xff"
                        "name\0\xff",
                        9),
            {{2, 2}}) == "006666ff006e616d6500ffff00000101018282");
}

TEST_CASE("numbers in keys take TensorFlow's bytes at every length") {
  const auto number = [](std::int64_t value) {
    const std::string key = slice_key("", TensorSlice{{{value, 0}}});
    return hex(key.substr(5, key.size() - 6));  // between "00 00 01 01 01" and the length's "80"
  };
  const std::pair<std::int64_t, const char*> table[] = {{0, "80"},
                                                        {-1, "7f"},
                                                        {1, "81"},
                                                        {-64, "40"},
                                                        {63, "bf"},
                                                        {-65, "3fbf"},
                                                        {64, "c040"},
                                                        {8191, "dfff"},
                                                        {8192, "e02000"},
                                                        {10000, "e02710"},
                                                        {69990, "e11166"},
                                                        {std::int64_t{1} << 33, "fa00000000"},
                                                        {(std::int64_t{1} << 50) - 2, "ff03fffffffffffe"},
                                                        {(std::int64_t{1} << 56) - 2, "ff80fffffffffffffe"},
                                                        {std::int64_t{1} << 62, "ffc04000000000000000"}};
  for (const auto& [value, bytes] : table) {
    const auto& this_value = value;  // clang 14 captures no structured binding
    CAPTURE(this_value);
    CHECK(number(value) == bytes);
  }
}

TEST_CASE("copying between boxes moves what they share, worked by hand") {
  const Tensor from = Tensor::matrix<float>({{1, 2}, {3, 4}, {5, 6}});  // rows 1 to 3, columns 1 and 2
  Tensor to = Tensor::zeros(DType::kFloat, {2, 2});                     // rows 2 and 3, columns 0 and 1
  CHECK(copy_shared(from, TensorSlice{{{1, 3}, {1, 2}}}, to, TensorSlice{{{2, 2}, {0, 2}}}) == 2);
  CHECK(to == Tensor::matrix<float>({{0, 3}, {0, 5}}));
  CHECK(copy_shared(from, TensorSlice{{{1, 3}, {1, 2}}}, to, TensorSlice{{{4, 2}, {0, 2}}}) == 0);
}

TEST_CASE("copying works for scalars and strings") {
  Tensor scalar = Tensor::scalar(0.0f);
  CHECK(copy_shared(Tensor::scalar(7.0f), TensorSlice{}, scalar, TensorSlice{}) == 1);
  CHECK(scalar.scalar<float>() == 7);
  Tensor words(DType::kString, {3});
  copy_shared(Tensor::vector<std::string>({"a", "b"}), TensorSlice{{{1, 2}}}, words, TensorSlice{{{0, 3}}});
  CHECK(words == Tensor::vector<std::string>({"", "a", "b"}));
}
