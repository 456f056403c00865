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

template <class E>
std::string refusal(const std::string& pattern) {
  try {
    matches("", pattern);
  } catch (const E& e) {
    return e.message();
  }
  return "no error of this class";
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

TEST_CASE("what is no pattern, and what is not there, is named") {
  CHECK(refusal<InvalidArgument>("a**") ==
        "StaticRegexFullMatch 'StaticRegexFullMatch': the pattern 'a**' has a repetition of a repetition "
        "before position 2");
  CHECK(refusal<InvalidArgument>("[a").find("an unfinished part") != std::string::npos);
  CHECK(refusal<InvalidArgument>("*a").find("nothing to repeat") != std::string::npos);
  CHECK(refusal<InvalidArgument>("[b-a]").find("runs backwards") != std::string::npos);
  CHECK(refusal<InvalidArgument>("\xff").find("no UTF-8") != std::string::npos);
  CHECK(refusal<InvalidArgument>(std::string(1'001, 'a')).find("1001 bytes, more than 1000") !=
        std::string::npos);
  for (const char* pattern : {"(a)", "a|b", "a{2}", "\\pL", "[[:alpha:]]", "^*"})
    CHECK(refusal<Unimplemented>(pattern).find("there are characters, sets") != std::string::npos);
}
