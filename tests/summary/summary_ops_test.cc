// Builders of summary ops: names, tags, collections and scopes as TensorFlow makes them.
#include "summary/summary_ops.h"

#include <doctest/doctest.h>

#include "graph/error.h"
#include "graph/log.h"
#include "ops/array_ops.h"

using namespace runnel;

namespace {

std::string tag_of(const Output& summary) {
  return summary.node().input(0).node().tensor("value").scalar<std::string>();
}
Output one(Graph& g) { return constant(g, Tensor::scalar(1.0f), {}); }

}  // namespace

TEST_CASE("a summary's tag is its node's full name, made unique") {
  Graph g;
  CHECK(tag_of(summary::scalar("loss", one(g))) == "loss");
  const Output second = summary::scalar("loss", one(g));
  CHECK(tag_of(second) == "loss_1");
  CHECK(second.name() == "loss_1:0");
  const NameScope scope(g, "sc");
  const Output inner = summary::scalar("loss", one(g));
  CHECK(tag_of(inner) == "sc/loss");
  CHECK(inner.node().op() == "ScalarSummary");
  CHECK(inner.node().input(0).node().name() == "sc/loss/tags");
}

TEST_CASE("a histogram's tag lies beside it under TensorFlow's name") {
  Graph g;
  const Output h = summary::histogram("h", one(g));
  CHECK(h.node().op() == "HistogramSummary");
  CHECK(h.node().input(0).name() == "h/tag:0");
  CHECK(h.dtype() == DType::kString);
  CHECK(h.shape() == Shape{});
}

TEST_CASE("a family stands before the name, and again before the tag") {
  Graph g;
  const NameScope scope(g, "s");
  const Output out = summary::scalar("x", one(g), {.family = "fam"});
  CHECK(out.node().name() == "s/fam/x");
  CHECK(tag_of(out) == "fam/s/fam/x");
}

TEST_CASE("characters that no node may have become underscores, with a line in the log") {
  Graph g;
  std::string line;
  const ScopedLogSink sink([&](LogLevel, const std::string& text) { line = text; });
  CHECK(tag_of(summary::scalar("//a b/c:d(e)-f.g", one(g))) == "a_b/c_d_e_-f.g");
  CHECK(line == "summary name '//a b/c:d(e)-f.g' cannot name a node; 'a_b/c_d_e_-f.g' is used");
}

TEST_CASE("summaries are collected under their key unless told otherwise") {
  Graph g;
  summary::scalar("a", one(g));
  summary::histogram("b", one(g), {.collections = {{"mine", "yours"}}});
  summary::scalar("c", one(g), {.collections = {{}}});
  CHECK(g.collection(keys::kSummaries).size() == 1);
  CHECK(g.collection("mine").size() == 1);
  CHECK(g.collection("yours").size() == 1);
}

TEST_CASE("merging all takes the collection in order, and nothing of an empty one") {
  Graph g;
  CHECK_FALSE(summary::merge_all(g));
  const Output a = summary::scalar("a", one(g)), b = summary::histogram("b", one(g));
  const Output merged = summary::merge_all(g);
  CHECK(merged.node().name() == "Merge/MergeSummary");
  CHECK(merged.node().input_list() == Outputs{a, b});
  CHECK(summary::merge_all(g).node().name() == "Merge_1/MergeSummary");
  CHECK(summary::merge({a, b}, {.name = "m"}).node().name() == "m/m");
  CHECK(g.collection(keys::kSummaries).size() == 2);
}

TEST_CASE("merging all takes those whose name the scope matches") {
  Graph g;
  summary::scalar("train/a", one(g));
  summary::scalar("test/a", one(g));
  CHECK(summary::merge_all(g, {.scope = "t.*n/"}).node().inputs() == 1);
  CHECK_FALSE(summary::merge_all(g, {.scope = "a"}));
  CHECK_FALSE(summary::merge_all(g, {.scope = "n/"}));  // within a name
  CHECK_THROWS_AS(summary::merge_all(g, {.scope = "("}), InvalidArgument);
}

TEST_CASE("what cannot be a summary is refused where it is written") {
  Graph g;
  CHECK_THROWS_WITH_AS(
      summary::scalar("loss", constant(g, Tensor::vector({1.0f, 2.0f}), {})),
      "ScalarSummary 'loss': tags and values are not the same shape: tags is string[] (loss/tags:0), "
      "values is float[2] (Const:0)",
      InvalidArgument);
  CHECK_THROWS_AS(summary::scalar("", one(g)), InvalidArgument);
  CHECK_THROWS_AS(summary::scalar("s", constant(g, Tensor::scalar("text"), {})), InvalidArgument);
  CHECK_THROWS_AS(summary::merge({}), InvalidArgument);
  g.add_to_collection(keys::kSummaries, std::string("text"));
  CHECK_THROWS_AS(summary::merge_all(g), InvalidArgument);
}
