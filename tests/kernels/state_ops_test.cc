// Writes and reads of both kinds of variable.
#include "ops/state_ops.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>

#include "graph/error.h"
#include "graph/runtime/session.h"
#include "tests/kernels/raw_variable.h"

using namespace runnel;

TEST_CASE("assigning, adding and subtracting give the value after the write") {
  for (const bool resource : {false, true}) {
    CAPTURE(resource);
    Graph g;
    const Variable v = raw_variable(g, Tensor::vector<float>({1, 2, 3}), resource);
    const Output five = assign(v, Tensor::vector<float>({5, 5, 5}));
    const Output more = assign_add(v, Tensor::vector<float>({1, 2, 3}));
    const Output less = assign_sub(v, Tensor::vector<float>({10, 0, 0}));
    Session s(g);
    s.run(v.parts().initializer);
    CHECK(s.run(five) == Tensor::vector<float>({5, 5, 5}));
    CHECK(s.run(more) == Tensor::vector<float>({6, 7, 8}));
    CHECK(s.run(less) == Tensor::vector<float>({-4, 7, 8}));
    CHECK(s.run(v) == Tensor::vector<float>({-4, 7, 8}));
  }
}

TEST_CASE("a number takes the variable's dtype, and integers wrap around") {
  for (const bool resource : {false, true}) {
    CAPTURE(resource);
    Graph g;
    const Variable v = raw_variable(g, Tensor::scalar<std::int32_t>(2147483647), resource);
    const Output next = assign_add(v, 1);
    Session s(g);
    s.run(v.parts().initializer);
    CHECK(s.run(next).scalar<std::int32_t>() == -2147483647 - 1);
  }
}

TEST_CASE("a variable is initialised from its first assignment on") {
  for (const bool resource : {false, true}) {
    CAPTURE(resource);
    Graph g;
    const Variable v = raw_variable(g, Tensor::scalar("text"), resource);
    const Output asked = is_variable_initialized(v);
    Session s(g);
    CHECK(s.run(asked).scalar<bool>() == false);
    CHECK_THROWS_AS(s.run(v), FailedPrecondition);
    s.run(v.parts().initializer);
    CHECK(s.run(asked).scalar<bool>() == true);
    CHECK(s.run(v) == Tensor::scalar("text"));
  }
}

TEST_CASE("variables without elements are written and read") {
  Graph g;
  const Variable v = raw_variable(g, Tensor::zeros(DType::kFloat, {0, 3}), false);
  const Output sum = assign_add(v, Tensor::zeros(DType::kFloat, {0, 3}));
  Session s(g);
  s.run(v.parts().initializer);
  CHECK(s.run(sum) == Tensor::zeros(DType::kFloat, {0, 3}));
}

TEST_CASE("a value of another shape is refused, unless the shape is not to be validated") {
  Graph g;
  const Variable v = raw_variable(g, Tensor::vector<float>({1, 2}), false);
  CHECK_THROWS_WITH_AS(
      assign(v, Tensor::vector<float>({1, 2, 3})),
      "Assign 'Assign': the value's shape is not the variable's: ref is float[2] (v:0), value is "
      "float[3] (Assign/value:0)",
      InvalidArgument);
  const Output longer = assign(v, Tensor::vector<float>({1, 2, 3}), {.validate_shape = false});
  CHECK(longer.shape() == Shape{3});
  Session s(g);
  CHECK(s.run(longer) == Tensor::vector<float>({1, 2, 3}));
}

TEST_CASE("a shape that only the session knows is checked there") {
  Graph g;
  const Variable v = raw_variable(g, Tensor::vector<float>({1, 2}), true, "v", Shape::unknown());
  const Output sum = assign_add(v, Tensor::vector<float>({1, 2, 3}));
  Session s(g);
  s.run(v.parts().initializer);
  CHECK_THROWS_AS(s.run(sum), InvalidArgument);
}

TEST_CASE("nodes of writes are named as TensorFlow names them") {
  Graph g;
  const Variable ref = raw_variable(g, Tensor::scalar(1.0f), false, "a");
  const Variable resource = raw_variable(g, Tensor::scalar(1.0f), true, "b");
  const std::size_t before = g.size();
  assign_add(ref, 1.0f);
  assign_add(resource, 1.0f);
  std::vector<std::string> names;
  for (const Node* node : g.nodes()) names.push_back(node->name());
  names.erase(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(before));
  CHECK(names == std::vector<std::string>{"AssignAdd/value", "AssignAdd", "Const", "AssignAddVariableOp",
                                          "ReadVariableOp"});
}

TEST_CASE("a counter hands out each value once, up to its limit, and stays there") {
  for (const bool resource : {false, true}) {
    CAPTURE(resource);
    Graph g;
    const Variable v = raw_variable(g, Tensor::scalar<std::int64_t>(0), resource);
    const Output count = count_up_to(v, 2);
    Session s(g);
    CHECK_THROWS_AS(s.run(count), FailedPrecondition);
    s.run(v.parts().initializer);
    CHECK(s.run(count).scalar<std::int64_t>() == 0);
    CHECK(s.run(count).scalar<std::int64_t>() == 1);
    const std::string op = resource ? "ResourceCountUpTo" : "CountUpTo";
    const std::string refusal = op + " '" + op + "': Reached limit of 2";
    for (int again = 0; again < 2; ++again) CHECK_THROWS_WITH_AS(s.run(count), refusal.c_str(), OutOfRange);
    CHECK(s.run(v).scalar<std::int64_t>() == 2);
  }
}

TEST_CASE("a counter never wraps around") {
  Graph g;
  const Variable v = raw_variable(g, Tensor::scalar<std::int32_t>(2147483647), false);
  const Output count = count_up_to(v, std::int64_t{1} << 40);
  Session s(g);
  s.run(v.parts().initializer);
  CHECK_THROWS_WITH_AS(
      s.run(count),
      "CountUpTo 'CountUpTo': the counter is at 2147483647, the largest int32; the limit is 1099511627776",
      OutOfRange);
}

TEST_CASE("only an integer scalar counts") {
  Graph g;
  CHECK_THROWS_WITH_AS(count_up_to(raw_variable(g, Tensor::vector<std::int64_t>({0}), false), 2),
                       "CountUpTo 'CountUpTo': the counter is no scalar: ref is int64[1] (v:0)",
                       InvalidArgument);
  CHECK_THROWS_AS(count_up_to(raw_variable(g, Tensor::scalar(0.0f), false, "w"), 2), InvalidArgument);
}
