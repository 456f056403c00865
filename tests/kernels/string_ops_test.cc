// Joining, splitting and matching strings.
#include "ops/string_ops.h"

#include <doctest/doctest.h>

#include <array>
#include <string>

#include "graph/graph.h"
#include "ops/ops.h"
#include "tests/graph/thrown.h"

using namespace runnel;

namespace {

bool matches(const std::string& text, const std::string& pattern) {
  Graph g;
  return evaluate(regex_full_match(constant(g, Tensor::scalar(text)), pattern)).scalar<bool>();
}

std::string refusal(const std::string& pattern) {
  return message_of<InvalidArgument>([&] { matches("", pattern); });
}

// Indices, values and shape.
std::array<Tensor, 3> parts(Graph& g, const SparseTensor& s) {
  Session session(g);
  return session.run({s.indices, s.values, s.dense_shape});
}

Tensor tokens(const std::string& text, const std::string& delimiter, bool skip_empty) {
  Graph g;
  const Output in = constant(g, Tensor::vector<std::string>({text}));
  return parts(g, string_split(in, delimiter, {.skip_empty = skip_empty}))[1];
}

Tensor words(const std::string& text, const std::string& separator, std::int64_t most) {
  Graph g;
  const Output in = constant(g, Tensor::vector<std::string>({text}));
  return parts(g, string_split_v2(in, separator, {.maxsplit = most}))[1];
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

TEST_CASE("tokens of a vector of strings are the rows of a sparse matrix") {
  Graph g;
  const std::array<Tensor, 3> got =
      parts(g, string_split(constant(g, Tensor::vector<std::string>({"a b", "", " c  d e"}))));
  CHECK(got[0] == Tensor::matrix<std::int64_t>({{0, 0}, {0, 1}, {2, 0}, {2, 1}, {2, 2}}));
  CHECK(got[1] == Tensor::vector<std::string>({"a", "b", "c", "d", "e"}));
  CHECK(got[2] == Tensor::vector<std::int64_t>({3, 3}));
  const std::array<Tensor, 3> none = parts(g, string_split(constant(g, Tensor(DType::kString, {0}))));
  CHECK(none[0].shape() == Shape{0, 2});
  CHECK(none[2] == Tensor::vector<std::int64_t>({0, 0}));
}

TEST_CASE("a string is cut at every character of the delimiter, or between all bytes") {
  CHECK(tokens("a,b;;c", ",;", true) == Tensor::vector<std::string>({"a", "b", "c"}));
  CHECK(tokens("a,b;;c", ",;", false) == Tensor::vector<std::string>({"a", "b", "", "c"}));
  CHECK(tokens(",", ",", false) == Tensor::vector<std::string>({"", ""}));
  CHECK(tokens("", ",", false).elements() == 0);
  CHECK(tokens("abc", "", true) == Tensor::vector<std::string>({"a", "b", "c"}));
}

TEST_CASE("the newer split cuts at whole separators, as often as it may") {
  CHECK(words("a<>b<><>c", "<>", -1) == Tensor::vector<std::string>({"a", "b", "", "c"}));
  CHECK(words("a<>b<><>c", "<>", 1) == Tensor::vector<std::string>({"a", "b<><>c"}));
  CHECK(words("", ",", -1) == Tensor::vector<std::string>({""}));
  CHECK(words(" a \t b\nc ", "", -1) == Tensor::vector<std::string>({"a", "b", "c"}));
  CHECK(words(" a \t b\nc ", "", 1) == Tensor::vector<std::string>({"a", "b\nc "}));
  CHECK(words(" a ", "", 1) == Tensor::vector<std::string>({"a", ""}));
  CHECK(words(" a ", "", 0) == Tensor::vector<std::string>({" a "}));
}

TEST_CASE("only vectors of strings are split") {
  Graph g;
  CHECK_THROWS_AS(string_split(constant(g, Tensor::scalar("a b"))), InvalidArgument);
  CHECK_THROWS_AS(string_split_v2(constant(g, Tensor::scalar("a b"))), InvalidArgument);
}
