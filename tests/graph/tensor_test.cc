// Tensors: views, copy on write, makers and refusals.
#include "graph/tensor.h"

#include <doctest/doctest.h>

using namespace runnel;

TEST_CASE("a copy of a tensor keeps its values when the original is written") {
  Tensor a = Tensor::vector<float>({1, 2, 3});
  const Tensor b = a;
  a.mutable_values<float>()[0] = 9;
  CHECK(b.values<float>()[0] == 1);
  CHECK(a.values<float>()[0] == 9);
}

TEST_CASE("a tensor that is not shared is written in place") {
  Tensor a = Tensor::vector<float>({1, 2, 3});
  const void* before = a.data();
  a.mutable_values<float>()[1] = 5;
  CHECK(a.data() == before);
}

TEST_CASE("strings are copied on write too") {
  Tensor a = Tensor::vector<std::string>({"x", "a longer string that does not fit into the object itself"});
  Tensor b = a;
  b.mutable_values<std::string>()[1] = "y";
  CHECK(a.values<std::string>()[1].size() > 20);
  CHECK(b.values<std::string>()[1] == "y");
}

TEST_CASE("asking for the wrong element type is refused with both types") {
  const Tensor a = Tensor::vector<float>({1, 2});
  CHECK_THROWS_WITH_AS(a.values<double>(),
                       "asked for double elements of a tensor that is float[2]: read them as float",
                       InvalidArgument);
  CHECK_THROWS_WITH_AS(
      a.scalar<float>(),
      "asked for the only element of a tensor that is float[2]: read its values, or reduce it in the graph",
      InvalidArgument);
}

TEST_CASE("a ragged matrix and a wrong count are refused") {
  CHECK_THROWS_AS(Tensor::matrix<float>({{1, 2}, {3}}), InvalidArgument);
  CHECK_THROWS_AS(Tensor::from<float>({2, 2}, std::vector<float>{1, 2, 3}), InvalidArgument);
}

TEST_CASE("a tensor too large for memory is refused before memory is taken") {
  CHECK_THROWS_AS(Tensor(DType::kFloat, Shape{std::int64_t{1} << 40, 1 << 20}), ResourceExhausted);
  CHECK_THROWS_AS(Tensor(DType::kFloat, Shape{std::int64_t{1} << 40, std::int64_t{1} << 40}),
                  InvalidArgument);
}

TEST_CASE("text shows dtype, shape and the first elements") {
  CHECK(Tensor::vector<float>({1, 2.5}).text() == "float[2] [1, 2.5]");
  CHECK(Tensor::vector<std::int8_t>({-1}).text() == "int8[1] [-1]");
  CHECK(Tensor::scalar("hi").text() == "string[] [\"hi\"]");
}
