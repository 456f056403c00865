// Values that differ, and those that another vector lacks.
#include "ops/array_set_ops.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "graph/error.h"
#include "graph/runtime/session.h"
#include "ops/array_ops.h"
#include "ops/gradient_check.h"

using namespace runnel;

TEST_CASE("unique gives each value where it comes first, and its place for each element") {
  Graph g;
  const UniqueValues numbers = unique(constant(g, Tensor::vector<int>({7, 5, 7, 9, 5})));
  CHECK(evaluate(numbers.y) == Tensor::vector<int>({7, 5, 9}));
  CHECK(evaluate(numbers.idx) == Tensor::vector<int>({0, 1, 0, 2, 1}));
  const UniqueValues words =
      unique(constant(g, Tensor::vector<std::string>({"a", "", "a"})), {.out_idx = DType::kInt64});
  CHECK(evaluate(words.y) == Tensor::vector<std::string>({"a", ""}));
  CHECK(evaluate(words.idx) == Tensor::vector<std::int64_t>({0, 1, 0}));
}

TEST_CASE("list_diff gives what the other vector lacks, twice where it is there twice") {
  Graph g;
  const Output x = constant(g, Tensor::vector<int>({4, 1, 2, 4, 3})),
               y = constant(g, Tensor::vector<int>({1, 3}));
  const ListDifference left = list_diff(x, y);
  CHECK(evaluate(left.out) == Tensor::vector<int>({4, 2, 4}));
  CHECK(evaluate(left.idx) == Tensor::vector<int>({0, 2, 3}));
  CHECK(evaluate(list_diff(x, x, {.out_idx = DType::kInt64}).idx).shape() == Shape{0});
}

TEST_CASE("NaN equals nothing and the two zeros are one value") {
  Graph g;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Output x = constant(g, Tensor::vector<float>({nan, -0.0f, nan, 0.0f}));
  CHECK(evaluate(unique(x).idx) == Tensor::vector<int>({0, 1, 2, 1}));
  CHECK(evaluate(list_diff(x, x).idx) == Tensor::vector<int>({0, 2}));
}

TEST_CASE("both are what searching gives, on many numbers") {
  Tensor x(DType::kInt64, {500}), y(DType::kInt64, {40});
  for (std::size_t i = 0; i < 500; ++i) x.mutable_values<std::int64_t>()[i] = static_cast<int>(i * i % 131);
  for (std::size_t i = 0; i < 40; ++i) y.mutable_values<std::int64_t>()[i] = static_cast<int>(i * 7 % 131);
  std::vector<std::int64_t> different, lacking;
  for (const std::int64_t v : x.values<std::int64_t>()) {
    if (std::ranges::find(different, v) == different.end()) different.push_back(v);
    if (std::ranges::find(y.values<std::int64_t>(), v) == y.values<std::int64_t>().end())
      lacking.push_back(v);
  }
  Graph g;
  CHECK(evaluate(unique(constant(g, x)).y) == Tensor::vector(different));
  CHECK(evaluate(list_diff(constant(g, x), y).out) == Tensor::vector(lacking));
}

TEST_CASE("vectors without elements have no values") {
  Graph g;
  const Output none = constant(g, Tensor::zeros(DType::kFloat, {0}));
  CHECK(evaluate(unique(none).y).shape() == Shape{0});
  CHECK(evaluate(unique(none).idx).shape() == Shape{0});
  CHECK(evaluate(list_diff(none, Tensor::vector<float>({1})).out).shape() == Shape{0});
}

TEST_CASE("what is no vector is refused in full text") {
  Graph g;
  const Output x = placeholder<float>(g, {2, 3}, "x");
  CHECK_THROWS_WITH_AS(unique(x), "Unique 'Unique': x has rank 2, not 1: x is float[2,3] (x:0)",
                       InvalidArgument);
  CHECK_THROWS_AS(list_diff(x, x), InvalidArgument);
}

TEST_CASE("they go out as GraphDef and come in again, with the dtype of places") {
  Graph g;
  unique(constant(g, Tensor::vector<int>({3, 3})), {.out_idx = DType::kInt64, .name = "u"});
  Graph again;
  again.import_graph_def(g.to_graph_def());
  CHECK(evaluate(again.output("u:1")) == Tensor::vector<std::int64_t>({0, 0}));
}
