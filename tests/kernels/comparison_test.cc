// Comparisons, logic, selection and conversion.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "graph/error.h"
#include "ops/array_ops.h"
#include "ops/gradient_check.h"
#include "ops/math_ops.h"

using namespace runnel;

namespace {

const float kNan = std::numeric_limits<float>::quiet_NaN(), kInf = std::numeric_limits<float>::infinity();
using Op = Output (*)(Operand, Operand, OpOptions);

Tensor compared(Op op) {
  Graph g;
  const Output x = constant(g, Tensor::vector<float>({1, 2, 3, kNan}));
  return evaluate(op(x, constant(g, Tensor::vector<float>({2, 2, 2, kNan})), {}));
}
Tensor flags(std::initializer_list<bool> values) { return Tensor::vector<bool>(values); }

template <class D>
Tensor converted(std::initializer_list<float> x) {
  Graph g;
  return evaluate(cast<D>(constant(g, Tensor::vector<float>(x))));
}

}  // namespace

TEST_CASE("comparisons are right, and false with NaN but for not_equal") {
  CHECK(compared(equal) == flags({false, true, false, false}));
  CHECK(compared(not_equal) == flags({true, false, true, true}));
  CHECK(compared(less) == flags({true, false, false, false}));
  CHECK(compared(less_equal) == flags({true, true, false, false}));
  CHECK(compared(greater) == flags({false, false, true, false}));
  CHECK(compared(greater_equal) == flags({false, true, true, false}));
}

TEST_CASE("strings and bools can be equal") {
  Graph g;
  const Output s = constant(g, Tensor::vector<std::string>({"a", "b"}));
  CHECK(evaluate(equal(s, Tensor::scalar(std::string("b")))) == flags({false, true}));
  CHECK(evaluate(not_equal(constant(g, flags({true, false})), Tensor::scalar(true))) == flags({false, true}));
}

TEST_CASE("logic on bools broadcasts") {
  Graph g;
  const Output x = constant(g, flags({true, false})), t = constant(g, Tensor::scalar(true));
  CHECK(evaluate(logical_and(x, t)) == flags({true, false}));
  CHECK(evaluate(logical_or(x, t)) == flags({true, true}));
  CHECK(evaluate(logical_not(x)) == flags({false, true}));
}

TEST_CASE("select takes its flag for all, for a row or for an element") {
  Graph g;
  const Output t = constant(g, Tensor::matrix<float>({{1, 2}, {3, 4}}));
  const Output e = constant(g, Tensor::matrix<float>({{5, 6}, {7, 8}}));
  CHECK(evaluate(select(Tensor::scalar(false), t, e)) == Tensor::matrix<float>({{5, 6}, {7, 8}}));
  CHECK(evaluate(select(flags({true, false}), t, e)) == Tensor::matrix<float>({{1, 2}, {7, 8}}));
  CHECK(evaluate(select(greater(t, 2.5f), t, e)) == Tensor::matrix<float>({{5, 6}, {3, 4}}));
  CHECK(evaluate(select_v2(flags({true, false}), t, 0.0f)) == Tensor::matrix<float>({{1, 0}, {3, 0}}));
}

TEST_CASE("select moves strings and nothing, too") {
  Graph g;
  const Output s = constant(g, Tensor::vector<std::string>({"a", "b"}));
  CHECK(evaluate(select(flags({false, true}), s, Tensor::vector<std::string>({"c", "d"}))) ==
        Tensor::vector<std::string>({"c", "b"}));
  const Output none = constant(g, Tensor(DType::kFloat, {0, 2}));
  CHECK(evaluate(select(Tensor(DType::kBool, {0}), none, none)).shape() == Shape{0, 2});
}

TEST_CASE("select hands its gradient to what was chosen") {
  const auto f = [](const Outputs& in) { return select(greater(in[0], 0.0), in[0] * in[1], in[1]); };
  CHECK(gradient_gap(f, {random({2, 3}), random({2, 3}, 2)}) < 1e-6);
}

TEST_CASE("select_v2 hands its gradient to what was chosen, summed where that was stretched") {
  for (const Shape& e : {Shape{2, 3}, Shape{3}, Shape{2, 1}, Shape{}})
    for (const Shape& t : {Shape{2, 3}, Shape{4, 1, 3}, Shape{}}) {
      CAPTURE(e);
      CAPTURE(t);
      const auto f = [](const Outputs& in) {
        return select_v2(constant(in[0].graph(), flags({true, false}).reshaped({2, 1})), in[0], in[1]);
      };
      CHECK(gradient_gap(f, {random(t), random(e, 2)}) < 1e-6);
      const auto unknown = [&](const Outputs& in) {
        return f({placeholder_with_default(in[0], Shape::unknown()),
                  placeholder_with_default(in[1], Shape::unknown())});
      };
      CHECK(gradient_gap(unknown, {random(t), random(e, 2)}) < 1e-6);
    }
}

TEST_CASE("floats are cut to integers, and give what x86 gives where they do not fit") {
  CHECK(converted<std::int32_t>({1.9f, -1.9f, 3e9f, kNan}) ==
        Tensor::vector<std::int32_t>(
            {1, -1, std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::min()}));
  CHECK(converted<std::int8_t>({300, -300, 3e9f}) == Tensor::vector<std::int8_t>({44, -44, 0}));
  CHECK(converted<std::uint8_t>({255.5f, -1}) == Tensor::vector<std::uint8_t>({255, 255}));
  CHECK(converted<std::uint64_t>({-1, 1e19f, kInf}) ==
        Tensor::vector<std::uint64_t>({~std::uint64_t{0}, 9999999980506447872u, std::uint64_t{1} << 63}));
  CHECK(converted<bool>({0, 0.5f, kNan}) == flags({false, true, true}));
}

TEST_CASE("casting to the same dtype adds no node, and floats pass gradients back") {
  Graph g;
  const Output x = placeholder<float>(g, {2}, "x");
  CHECK(cast<float>(x) == x);
  const auto f = [](const Outputs& in) { return cast<double>(cast<float>(in[0])) * 2.0; };
  CHECK(gradient_gap(f, {Tensor::vector<double>({0.5, 0.25})}) < 1e-2);  // float rounds the small steps
}
