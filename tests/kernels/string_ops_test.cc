// Joining strings, and matching them.
#include "ops/string_ops.h"

#include <doctest/doctest.h>

#include <string>

#include "graph/graph.h"
#include "ops/ops.h"

using namespace runnel;

namespace {

bool matches(const std::string& text, const std::string& pattern) {
  Graph g;
  return evaluate(regex_full_match(constant(g, Tensor::scalar(text)), pattern)).scalar<bool>();
}

std::string refusal(const std::string& pattern) {
  try {
    matches("", pattern);
  } catch (const InvalidArgument& e) {
    return e.message();
  }
  return "no error";
}

}  // namespace

TEST_CASE("joins strings element by element and repeats scalars") {
  Graph g;
  const Output names = constant(g, Tensor::vector<std::string>({"a", "", "c"}));
  const Output one = constant(g, Tensor::scalar("x"));
  CHECK(evaluate(string_join({one, names, one}, {.separator = "/"})) ==
        Tensor::vector<std::string>({"x/a/x", "x//x", "x/c/x"}));
  CHECK(evaluate(string_join({one, one})) == Tensor::scalar("xx"));
  const Output none = constant(g, Tensor(DType::kString, Shape{0, 2}));
  CHECK(evaluate(string_join({none, one})).shape() == Shape{0, 2});
}

TEST_CASE("refuses to join strings of other shapes, and nothing") {
  Graph g;
  const Output a = constant(g, Tensor::vector<std::string>({"a", "b"}), {.name = "a"});
  const Output b = constant(g, Tensor::vector<std::string>({"a"}), {.name = "b"});
  CHECK_THROWS_WITH_AS(string_join({a, b}),
                       "StringJoin 'StringJoin': shapes differ: inputs[0] is string[2] (a:0), inputs[1] is "
                       "string[1] (b:0)",
                       InvalidArgument);
  CHECK_THROWS_AS(string_join({}), InvalidArgument);
}

TEST_CASE("a pattern matches whole strings only") {
  CHECK(matches("s3://bucket/m", "^s3://.*"));
  CHECK(!matches("/tmp/s3://m", "^s3://.*"));
  CHECK(!matches("s3:/m", "^s3://.*"));
  CHECK(matches("", ""));
  CHECK(!matches("ab", "a"));
  CHECK(matches("ab", "^ab$"));
  CHECK(!matches("ab", "a^b"));
}

TEST_CASE("repetitions, sets and escapes are those of RE2") {
  for (const char* text : {"model-0012.ckpt", "m-1.ckpt", "m--1.ckptt"})
    CHECK(matches(text, R"([a-z]+-?-\d\d*\.ckpt+?)"));
  CHECK(!matches("m-1xckpt", R"([a-z]+-\d\d*\.ckpt)"));
  CHECK(matches("]^-", "[]][\\^][-]"));
  CHECK(matches("x", "[^a-w\\d]"));
  CHECK(!matches("5", "[^a-w\\d]"));
  CHECK(!matches("\n", "."));
  CHECK(matches("\xc3\xa9", "."));
  CHECK(!matches("\xc3", "."));
  CHECK(!matches("\xc3", "[^a]"));
}

TEST_CASE("no pattern makes a long text slow") {
  std::string pattern;
  for (int i = 0; i < 30; ++i) pattern += "a*";
  CHECK(!matches(std::string(20'000, 'a') + "b", pattern));
}

TEST_CASE("groups, alternatives, counts and named sets are there") {
  CHECK(matches("gs://b", "(s3|gs)://.*"));
  CHECK(!matches("hdfs://b", "(s3|gs)://.*"));
  CHECK(matches("00012", "[[:digit:]]{5}"));
  CHECK(!matches("0012", "\\d{5}"));
}

TEST_CASE("what is no pattern, or too large a one, is refused with its fault") {
  CHECK(refusal("a**") ==
        "StaticRegexFullMatch 'StaticRegexFullMatch': the pattern is none of RE2's: bad repetition operator: "
        "**");
  CHECK(refusal("[a").find("missing ]: [a") != std::string::npos);
  CHECK(refusal("\xff").find("invalid UTF-8") != std::string::npos);
  CHECK(refusal("((a{100}){100}){100}").find("invalid repetition size") != std::string::npos);
  CHECK(refusal("(\\pL{500}|\\pN{500})\\pL{900}").find("pattern too large") != std::string::npos);
}
