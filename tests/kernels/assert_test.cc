// Checks made while a step runs, and what their errors show.
#include "ops/assert_ops.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "ops/ops.h"

using namespace runnel;

namespace {

std::string shown(const Tensor& tensor, std::int64_t summarize) {
  Graph g;
  const Output no = constant(g, Tensor::scalar(false));
  const Operation check = assert_true(no, {tensor}, {.summarize = summarize});
  try {
    Session(g).run(check);
  } catch (const InvalidArgument& e) {
    const std::string start = "Assert 'Assert/Assert': assertion failed: [";
    REQUIRE(e.message().starts_with(start));
    return e.message().substr(start.size() - 1);
  }
  return "no error";
}

Tensor counted(const Shape& shape) {
  std::vector<float> values(static_cast<std::size_t>(shape.elements()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  return Tensor::from(shape, values);
}

}  // namespace

TEST_CASE("a step whose condition holds goes on, one whose condition does not ends") {
  Graph g;
  const Output holds = placeholder<bool>(g, {}, "holds");
  const Output x = constant(g, Tensor::vector<float>({1, 2, 3, 4}));
  const Operation check = assert_true(holds, {Tensor::scalar("x is bad:"), x, 7});
  const Output checked = with_dependencies(std::vector{check}, x);
  Session s(g);
  CHECK(s.run(checked, {{holds, Tensor::scalar(true)}}).elements() == 4);
  CHECK_THROWS_WITH_AS(s.run(checked, {{holds, Tensor::scalar(false)}}),
                       "Assert 'Assert/Assert': assertion failed: [x is bad:] [1 2 3...] [7]",
                       InvalidArgument);
}

TEST_CASE("rows are shown in brackets and cut where the summary ends") {
  CHECK(shown(counted({3, 4}), 3) == "[[0 1 2...]...]");
  CHECK(shown(counted({3, 4}), 4) == "[[0 1 2 3]...]");
  CHECK(shown(counted({3, 4}), 5) == "[[0 1 2 3][4...]...]");
  CHECK(shown(counted({2, 2, 3}), 5) == "[[[0 1 2][3 4...]]...]");
  CHECK(shown(counted({2, 2, 3}), -1) == "[[[0 1 2][3 4 5]][[6 7 8][9 10 11]]]");
  CHECK(shown(counted({3}), 0) == "[...]");
  CHECK(shown(counted({2, 0}), 3) == "[]");
  CHECK(shown(counted({0, 3}), 3) == "[]");
}

TEST_CASE("floats are shown with the digits that tell them apart") {
  const float inf = std::numeric_limits<float>::infinity();
  const Tensor f =
      Tensor::vector<float>({1e-7f, 123456.7f, -std::numeric_limits<float>::quiet_NaN(), inf, -inf, 0.3f});
  CHECK(shown(f, 9) == "[1e-07 123456.703 nan inf -inf 0.3]");
  CHECK(shown(Tensor::vector<double>({0.1, 1e10, 1.0 / 3, 1e100}), 9) ==
        "[0.1 10000000000 0.33333333333333331 1e+100]");
  CHECK(shown(Tensor::vector<Half>({{0x3e00}}), 9) == "[1.5]");
  CHECK(shown(Tensor::vector<Bfloat16>({{0x3fc0}}), 9) == "[1.5]");
}

TEST_CASE("strings are escaped, and small integers are numbers") {
  CHECK(shown(Tensor::vector<std::string>({"a", "b\n\xff\x01\"", ""}), 3) == "[a b\\n\xff\\001\\\" ]");
  CHECK(shown(Tensor::vector<std::uint8_t>({200}), 3) == "[200]");
  CHECK(shown(Tensor::vector<std::int8_t>({-3}), 3) == "[-3]");
  CHECK(shown(Tensor::scalar(true), 3) == "[1]");
  CHECK(shown(Tensor::zeros(DType::kComplex64, {1}), 3) == "[?]");
}

TEST_CASE("a check without data and a condition that is no scalar are refused") {
  Graph g;
  const Output holds = placeholder<bool>(g, {2}, "holds");
  CHECK_THROWS_WITH_AS(assert_true(holds, {}), "assert_true: there are no data to show when it fails",
                       InvalidArgument);
  CHECK_THROWS_WITH_AS(assert_true(holds, {1.0f}),
                       "Assert 'Assert/Assert': condition has rank 1, not 0: condition is bool[2] (holds:0), "
                       "data[0] is float[] (Assert/Assert/data_0:0)",
                       InvalidArgument);
}
