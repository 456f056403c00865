// Lines of a batch file as arguments, and the text that `runnel --json` prints.
#include "train/cli/command_line.h"

#include <doctest/doctest.h>

#include <limits>

#include "train/cli/json.h"

using namespace runnel;
using Words = std::vector<std::string>;

TEST_CASE("a line is split as a shell splits it") {
  const std::pair<std::string, Words> cases[] = {
      {"", {}},
      {"  a\tb  c\r", {"a", "b", "c"}},
      {"--feed 'x:0=my file.npy'", {"--feed", "x:0=my file.npy"}},
      {"a\\ b \"c \\\" \\\\ \\d\"", {"a b", "c \" \\ \\d"}},
      {"pre'mid'\"post\" ''", {"premidpost", ""}},
      {"a # b", {"a"}},
      {"a#b", {"a#b"}},
  };
  for (const auto& [line, words] : cases) {
    const auto& this_line = line;  // clang 14 captures no structured binding
    CAPTURE(this_line);
    CHECK(split_words(line) == words);
  }
  CHECK_THROWS_WITH_AS(split_words("a 'b"), "a quote ' is not closed", InvalidArgument);
}

TEST_CASE("text is valid JSON whatever its bytes are") {
  CHECK(json_text("a\"b\\c\n") == "\"a\\\"b\\\\c\\u000a\"");
  CHECK(json_text("h\xc3\xa9") == "\"h\xc3\xa9\"");
  CHECK(json_text("\xff\xc3") == "\"\\u00ff\\u00c3\"");
  CHECK(json_text("\xed\xa0\x80") == "\"\\u00ed\\u00a0\\u0080\"");
}

TEST_CASE("values are numbers where JSON has them") {
  const float inf = std::numeric_limits<float>::infinity();
  CHECK(json_values(Tensor::vector<float>({0.1f, -inf, inf * 0}), 8) == "[0.1, \"-inf\", \"nan\"]");
  CHECK(json_values(Tensor::vector<std::int64_t>({1, 2, 3}), 2) == "[1, 2]");
  CHECK(json_values(Tensor::scalar(std::complex<float>(1, 2)), 8) == "[[1, 2]]");
  CHECK(json_values(Tensor::vector<bool>({true}), 8) == "[true]");
  CHECK(json_shape(Shape{2, kUnknown}) == "[2, null]");
  CHECK(json_shape(Shape::unknown()) == "null");
}
