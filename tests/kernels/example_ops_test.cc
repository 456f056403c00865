// Features out of Example messages: fixed, of variable length, sequences, and damage.
#include "ops/example_ops.h"

#include <doctest/doctest.h>

#include <array>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "ops/ops.h"
#include "tests/graph/thrown.h"

using namespace runnel;

namespace {

using Floats = std::vector<float>;
using Integers64 = std::vector<std::int64_t>;
using Texts = std::vector<std::string>;

std::string first() {
  return Example{{{"x", Floats{1, 2}}, {"n", Integers64{3}}, {"s", Texts{"q", "r"}}, {"none", {}}}}
      .serialize();
}
std::string second() {
  return Example{{{"x", Floats{4, 5}}, {"n", Integers64{6}}, {"s", Texts{"z"}}}}.serialize();
}

// The values of one feature, which is dense.
Tensor dense(const Texts& examples, const FeatureSpec& feature, const std::string& key = "f") {
  Graph g;
  return evaluate(parse_example(constant(g, Tensor::vector(examples)), {{key, feature}}).dense(key));
}

// Indices, values and shape of one that is sparse.
std::array<Tensor, 3> sparse(const Texts& examples, const std::string& key, DType dtype) {
  Graph g;
  const SparseTensor s =
      parse_example(constant(g, Tensor::vector(examples)), {{key, VarLenFeature{dtype}}}).sparse(key);
  Session session(g);
  return session.run({s.indices, s.values, s.dense_shape});
}

std::string refusal(const Texts& examples, const FeatureSpec& feature, const std::string& key) {
  return message_of<InvalidArgument>([&] { dense(examples, feature, key); });
}

}  // namespace

TEST_CASE("dense features stand one below the other, missing ones are the default") {
  const Texts both{first(), second()};
  CHECK(dense(both, FixedLenFeature{{2}, DType::kFloat}, "x") == Tensor::matrix<float>({{1, 2}, {4, 5}}));
  CHECK(dense(both, FixedLenFeature{{}, DType::kInt64}, "n") == Tensor::vector<std::int64_t>({3, 6}));
  const FixedLenFeature absent{{2}, DType::kString, Tensor::vector<std::string>({"a", "b"})};
  CHECK(dense(both, absent) == Tensor::matrix<std::string>({{"a", "b"}, {"a", "b"}}));
  const FixedLenFeature nine{{}, DType::kInt64, Tensor::scalar<std::int64_t>(9)};
  CHECK(dense({first()}, nine, "none") == Tensor::vector<std::int64_t>({9}));
  CHECK(dense({}, FixedLenFeature{{2}, DType::kFloat}).shape() == Shape{0, 2});
}

TEST_CASE("features of variable length are sparse") {
  const std::array<Tensor, 3> s = sparse({first(), Example{}.serialize(), second()}, "s", DType::kString);
  CHECK(s[0] == Tensor::matrix<std::int64_t>({{0, 0}, {0, 1}, {2, 0}}));
  CHECK(s[1] == Tensor::vector<std::string>({"q", "r", "z"}));
  CHECK(s[2] == Tensor::vector<std::int64_t>({3, 2}));
  const std::array<Tensor, 3> none = sparse({first()}, "other", DType::kFloat);
  CHECK(none[0].shape() == Shape{0, 2});
  CHECK(none[1].shape() == Shape{0});
  CHECK(none[2] == Tensor::vector<std::int64_t>({1, 0}));
}

TEST_CASE("sequences are filled up to the longest") {
  const Texts both{first(), second()};
  CHECK(dense(both, FixedLenSequenceFeature{{}, DType::kString, Tensor::scalar("-")}, "s") ==
        Tensor::matrix<std::string>({{"q", "r"}, {"z", "-"}}));
  CHECK(dense(both, FixedLenSequenceFeature{{2}, DType::kFloat}, "x").shape() == Shape{2, 1, 2});
  CHECK(dense(both, FixedLenSequenceFeature{{}, DType::kFloat}, "absent").shape() == Shape{2, 0});
  CHECK(refusal(both, FixedLenSequenceFeature{{3}, DType::kFloat}, "x")
            .ends_with("example 0: feature 'x' has 2 values, which are no rows of shape [3]"));
}

TEST_CASE("a single example has no dimension for the batch") {
  Graph g;
  const ParsedFeatures all =
      parse_single_example(constant(g, Tensor::scalar(first())), {{"x", FixedLenFeature{{2}, DType::kFloat}},
                                                                  {"n", FixedLenFeature{{}, DType::kInt64}},
                                                                  {"s", VarLenFeature{DType::kString}},
                                                                  {"none", FixedLenSequenceFeature{}}});
  Session session(g);
  const std::array<Tensor, 6> got =
      session.run({all["x"], all["n"], all.sparse("s").indices, all.sparse("s").values,
                   all.sparse("s").dense_shape, all["none"]});
  CHECK(got[0] == Tensor::vector<float>({1, 2}));
  CHECK(got[1] == Tensor::scalar<std::int64_t>(3));
  CHECK(got[2] == Tensor::matrix<std::int64_t>({{0}, {1}}));
  CHECK(got[3] == Tensor::vector<std::string>({"q", "r"}));
  CHECK(got[4] == Tensor::vector<std::int64_t>({2}));
  CHECK(got[5].shape() == Shape{0});
}

TEST_CASE("of two features of one name the later counts") {
  CHECK(dense({first() + second()}, FixedLenFeature{{2}, DType::kFloat}, "x") ==
        Tensor::matrix<float>({{4, 5}}));
}

TEST_CASE("a feature that does not fit is refused with example and name") {
  CHECK(refusal({first()}, FixedLenFeature{{3}, DType::kFloat}, "x") ==
        "ParseExample 'ParseExample/ParseExample': example 0: feature 'x' has 2 values, not 3");
  CHECK(refusal({first()}, FixedLenFeature{{2}, DType::kInt64}, "x").ends_with("'x' holds float, not int64"));
  CHECK(refusal({first(), second()}, FixedLenFeature{{}, DType::kInt64}, "none")
            .ends_with("example 0: feature 'none' is missing and has no default"));
  CHECK(refusal({first(), "\x0a\xff"}, FixedLenFeature{{2}, DType::kFloat}, "x")
            .ends_with("example 1: its 2 bytes are no Example message"));
}

TEST_CASE("errors say the names of examples where they are given") {
  Graph g;
  const Output names = constant(g, Tensor::vector<std::string>({"a.tfrecord:7"}));
  const ParsedFeatures all = parse_example(constant(g, Tensor::vector<std::string>({"x"})),
                                           {{"x", FixedLenFeature{}}}, {.example_names = names});
  CHECK_THROWS_WITH_AS(
      evaluate(all["x"]),
      "ParseExample 'ParseExample/ParseExample': example 0 'a.tfrecord:7': its 1 bytes are no "
      "Example message",
      InvalidArgument);
}

TEST_CASE("features that no example can have are refused while the graph is built") {
  Graph g;
  const Output bytes = constant(g, Tensor::vector<std::string>({first()}));
  CHECK_THROWS_AS(parse_example(bytes, {}), InvalidArgument);
  CHECK_THROWS_AS(parse_example(bytes, {{"x", FixedLenFeature{{2, kUnknown}}}}), InvalidArgument);
  CHECK_THROWS_AS(parse_example(bytes, {{"x", FixedLenFeature{{2}, DType::kInt32}}}), InvalidArgument);
  const FixedLenFeature other_type{{}, DType::kFloat, Tensor::scalar<std::int64_t>(1)};
  CHECK_THROWS_AS(parse_example(bytes, {{"x", other_type}}), InvalidArgument);
  const FixedLenFeature other_shape{{2}, DType::kFloat, Tensor::vector<float>({1})};
  CHECK_THROWS_AS(parse_example(bytes, {{"x", other_shape}}), InvalidArgument);
  CHECK_THROWS_AS(parse_single_example(bytes, {{"x", FixedLenFeature{}}}), InvalidArgument);
}

TEST_CASE("what was parsed is found by name and kind") {
  Graph g;
  const ParsedFeatures all =
      parse_example(constant(g, Tensor::vector<std::string>({first()})),
                    {{"x", FixedLenFeature{{2}}}, {"s", VarLenFeature{DType::kString}}});
  CHECK(all["x"].name() == "ParseExample/ParseExample:3");
  CHECK_THROWS_AS(all["y"], NotFound);
  CHECK_THROWS_AS(all["s"], InvalidArgument);
  CHECK_THROWS_AS(all.sparse("x"), InvalidArgument);
}

namespace {

// A node as TensorFlow 2 writes it, with a sparse, a dense and a ragged feature.
const Node& parse_v2(Graph& g, const Tensor& examples, DType split_type, const Texts& ragged = {"s"}) {
  const auto keys = [&](const Texts& names) { return constant(g, Tensor::vector(names)); };
  return g.add("ParseExampleV2",
               {constant(g, examples), constant(g, Tensor(DType::kString, {0})), keys({"s"}), keys({"x"}),
                keys(ragged), Outputs{constant(g, Tensor(DType::kFloat, {0}))}},
               {{"num_sparse", 1},
                {"sparse_types", std::vector<DType>{DType::kString}},
                {"ragged_value_types", std::vector<DType>{DType::kString}},
                {"ragged_split_types", std::vector<DType>{split_type}},
                {"dense_shapes", std::vector<Shape>{{2}}}},
               "parse", Location::here());
}

}  // namespace

TEST_CASE("the op of TensorFlow 2 parses a batch, ragged features too") {
  Graph g;
  const Node& node = parse_v2(g, Tensor::vector<std::string>({first(), second()}), DType::kInt32);
  CHECK(node.output(3).shape() == Shape{2, 2});
  Session session(g);
  const std::array<Tensor, 5> got =
      session.run({node.output(1), node.output(2), node.output(3), node.output(4), node.output(5)});
  CHECK(got[0] == Tensor::vector<std::string>({"q", "r", "z"}));
  CHECK(got[1] == Tensor::vector<std::int64_t>({2, 2}));
  CHECK(got[2] == Tensor::matrix<float>({{1, 2}, {4, 5}}));
  CHECK(got[3] == Tensor::vector<std::string>({"q", "r", "z"}));
  CHECK(got[4] == Tensor::vector<std::int32_t>({0, 2, 3}));
}

TEST_CASE("the op of TensorFlow 2 parses a single example, too") {
  Graph g;
  const Node& node = parse_v2(g, Tensor::scalar(first()), DType::kInt64);
  Session session(g);
  const std::array<Tensor, 4> got =
      session.run({node.output(0), node.output(3), node.output(4), node.output(5)});
  CHECK(got[0] == Tensor::matrix<std::int64_t>({{0}, {1}}));
  CHECK(got[1] == Tensor::vector<float>({1, 2}));
  CHECK(got[2] == Tensor::vector<std::string>({"q", "r"}));
  CHECK(got[3].shape() == Shape{0});
}

TEST_CASE("the op of TensorFlow 2 wants a key for each type") {
  Graph g;
  CHECK_THROWS_WITH_AS(evaluate(parse_v2(g, Tensor::scalar(first()), DType::kInt64, {"s", "t"}).output(3)),
                       "ParseExampleV2 'parse': ragged_keys has 2 entries, not 1", InvalidArgument);
}
