// Dense tensors out of sparse ones.
#include "ops/sparse_ops.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "graph/graph.h"
#include "ops/ops.h"

using namespace runnel;

namespace {

using Integers64 = std::vector<std::int64_t>;

// The result of [n] indices whose shape and numbers the graph sees only when it runs.
Tensor dense(const Integers64& indices, const Tensor& shape, const Tensor& values, bool validate = true) {
  Graph g;
  const Output places = placeholder<std::int64_t>(g, Shape::unknown()),
               dims = placeholder<std::int64_t>(g, Shape::unknown()),
               numbers = placeholder<float>(g, Shape::unknown());
  const Output y = sparse_to_dense(places, dims, numbers, -1, {.validate_indices = validate});
  Session session(g);
  return session.run(y, {{places, Tensor::vector(indices)}, {dims, shape}, {numbers, values}});
}

std::string refusal(const Integers64& indices, const Tensor& shape, const Tensor& values,
                    bool validate = true) {
  try {
    (void)dense(indices, shape, values, validate);
  } catch (const InvalidArgument& error) {
    return error.message();
  }
  return "no error";
}

const Tensor kFive = Tensor::vector<std::int64_t>({5}), kTwo = Tensor::vector<float>({7, 8});

}  // namespace

TEST_CASE("a sparse matrix of strings becomes dense, worked by hand") {
  Graph g;
  const SparseTensor words = string_split(constant(g, Tensor::vector<std::string>({"a b", "", "c"})));
  CHECK(evaluate(sparse_tensor_to_dense(words, Tensor::scalar(std::string("-")))) ==
        Tensor::matrix<std::string>({{"a", "b"}, {"-", "-"}, {"c", "-"}}));
  CHECK(evaluate(sparse_tensor_to_dense(words)) ==
        Tensor::matrix<std::string>({{"a", "b"}, {"", ""}, {"c", ""}}));
}

TEST_CASE("indices of rank 0 and 1 are places in a vector, one value may serve all") {
  Graph g;
  const Output one = constant(g, Tensor::scalar(2)), two = constant(g, Tensor::vector<std::int32_t>({1, 2}));
  const Output values = constant(g, Tensor::vector<float>({7, 8})), seven = constant(g, Tensor::scalar(7.0f));
  CHECK(evaluate(sparse_to_dense(one, {3}, seven)) == Tensor::vector<float>({0, 0, 7}));
  CHECK(evaluate(sparse_to_dense(two, {3}, values, 1)) == Tensor::vector<float>({1, 7, 8}));
  CHECK(evaluate(sparse_to_dense(two, {3}, seven)) == Tensor::vector<float>({0, 7, 7}));
  CHECK(sparse_to_dense(two, {3}, values).shape() == Shape{3});
}

TEST_CASE("nothing sparse is all default, and a shape without elements holds nothing") {
  Graph g;
  const Output none = constant(g, Tensor(DType::kInt64, {0, 2})),
               no_values = constant(g, Tensor(DType::kFloat, {0}));
  CHECK(evaluate(sparse_to_dense(none, {1, 2}, no_values, 3)) == Tensor::matrix<float>({{3, 3}}));
  CHECK(evaluate(sparse_to_dense(none, {0, 2}, no_values, 3)).shape() == Shape{0, 2});
}

TEST_CASE("places out of range, out of order and repeated are refused, the latter two on wish") {
  CHECK(dense({1, 3}, kFive, kTwo) == Tensor::vector<float>({-1, 7, -1, 8, -1}));
  CHECK(refusal({1, 5}, kFive, kTwo).ends_with("sparse_indices[1] is [5], outside of the shape [5]"));
  CHECK(
      refusal({-1, 1}, kFive, kTwo, false).ends_with("sparse_indices[0] is [-1], outside of the shape [5]"));
  CHECK(refusal({3, 1}, kFive, kTwo).ends_with("sparse_indices[1], [1], is out of order"));
  CHECK(refusal({3, 3}, kFive, kTwo).ends_with("sparse_indices[1], [3], is repeated"));
  CHECK(dense({3, 1}, kFive, kTwo, false) == Tensor::vector<float>({-1, 8, -1, 7, -1}));
  CHECK(dense({3, 3}, kFive, kTwo, false) == Tensor::vector<float>({-1, -1, -1, 8, -1}));
}

TEST_CASE("counts that differ are refused, while the graph is built where they are known") {
  Graph g;
  const Output two = constant(g, Tensor::vector<std::int32_t>({1, 2}), {.name = "two"});
  const Output three = constant(g, Tensor::vector<float>({1, 2, 3}), {.name = "three"});
  CHECK_THROWS_AS(sparse_to_dense(two, {4}, three), InvalidArgument);
  CHECK_THROWS_AS(sparse_to_dense(two, {4, 4}, constant(g, Tensor::scalar(1.0f))), InvalidArgument);
  CHECK_THROWS_AS(sparse_to_dense(two, {-4}, constant(g, Tensor::scalar(1.0f))), InvalidArgument);
  CHECK(refusal({1, 2}, kFive, Tensor::vector<float>({1})).find("numbers of indices and values") !=
        std::string::npos);
}

TEST_CASE("sizes that no memory can hold are refused before a byte is taken") {
  const std::int64_t large = std::int64_t{1} << 40;
  Graph g;
  const Output at = placeholder<std::int64_t>(g, {kUnknown, 2}), dims = placeholder<std::int64_t>(g, {2});
  const Output y = sparse_to_dense(at, dims, constant(g, Tensor::scalar(true)), Tensor::scalar(false));
  Session session(g);
  const Tensor place = Tensor::matrix<std::int64_t>({{0, 0}});
  CHECK_THROWS_AS(session.run(y, {{at, place}, {dims, Tensor::vector<std::int64_t>({large, large})}}),
                  InvalidArgument);
  CHECK_THROWS_AS(session.run(y, {{at, place}, {dims, Tensor::vector<std::int64_t>({large, 1 << 20})}}),
                  ResourceExhausted);
  CHECK_THROWS_AS(session.run(y, {{at, place}, {dims, Tensor::vector<std::int64_t>({-1, 1})}}),
                  InvalidArgument);
  const Output many = placeholder<std::int64_t>(g, {large});
  CHECK_THROWS_AS(sparse_to_dense(at, many, constant(g, Tensor::scalar(true)), Tensor::scalar(false)),
                  InvalidArgument);
}
