// Places of elements and masks.
#include <doctest/doctest.h>

#include <string>

#include "graph/error.h"
#include "ops/ops.h"

using namespace runnel;

TEST_CASE("gives the places of what is not zero, worked by hand") {
  Graph g;
  const Output x = constant(g, Tensor::matrix<float>({{0, 2, 0}, {-1, 0, 3}}));
  CHECK(evaluate(where(x)) == Tensor::matrix<std::int64_t>({{0, 1}, {1, 0}, {1, 2}}));
  CHECK(where(x).shape() == Shape{kUnknown, 2});
}

TEST_CASE("gives no places where nothing is true, or nothing is there") {
  Graph g;
  CHECK(evaluate(where(constant(g, Tensor::vector<float>({0, 0})))).shape() == Shape{0, 1});
  CHECK(evaluate(where(constant(g, Tensor::zeros(DType::kFloat, {0, 4})))).shape() == Shape{0, 2});
}

TEST_CASE("refuses a scalar, and a mask of another length") {
  Graph g;
  const Output one = constant(g, Tensor::scalar(1.0f), {.name = "one"});
  CHECK_THROWS_WITH_AS(where(one), "Where 'Where': a scalar has no places: input is float[] (one:0)",
                       InvalidArgument);
  const Output x = constant(g, Tensor::vector<float>({1, 2}), {.name = "x"});
  const Output mask = greater(constant(g, Tensor::vector<float>({1, 2, 3}), {.name = "m"}), 1.0f);
  CHECK_THROWS_AS(boolean_mask(x, mask), InvalidArgument);
}

TEST_CASE("masks rows of any dtype and passes their gradient on") {
  Graph g;
  const Output keep = greater(constant(g, Tensor::vector<float>({1, 0, 1})), 0.5f);
  const Output words = constant(g, Tensor::vector<std::string>({"a", "b", "c"}));
  CHECK(evaluate(boolean_mask(words, keep)) == Tensor::vector<std::string>({"a", "c"}));
  const auto masked = [](const Outputs& in) {
    return boolean_mask(in[0], greater(constant(in[0].graph(), Tensor::vector<float>({1, 0, 1})), 0.5f));
  };
  CHECK(evaluate(masked({constant(g, random({3, 2}))})).shape() == Shape{2, 2});
}
