// Sums of rows by number, and the gradient of gathering along another axis than the first, which needs them.
#include <doctest/doctest.h>

#include "graph/error.h"
#include "ops/array_gather_ops.h"
#include "ops/array_ops.h"
#include "ops/gradient_check.h"
#include "tests/kernels/golden_gradient.h"

using namespace runnel;

namespace {

Output sums(Graph& g, const Tensor& data, const std::vector<int>& ids, int segments) {
  return g.add("UnsortedSegmentSum",
               {constant(g, data), constant(g, Tensor::vector(ids)), constant(g, Tensor::scalar(segments))});
}

}  // namespace

TEST_CASE("rows of one number are added up, negative numbers left out, missing ones zero") {
  Graph g;
  const Tensor rows = Tensor::matrix<float>({{1, 2}, {3, 4}, {5, 6}, {7, 8}});
  CHECK(evaluate(sums(g, rows, {2, 0, 2, -1}, 3)) == Tensor::matrix<float>({{3, 4}, {0, 0}, {6, 8}}));
  CHECK(evaluate(sums(g, Tensor::zeros(DType::kFloat, {0, 2}), {}, 1)) == Tensor::matrix<float>({{0, 0}}));
  CHECK(evaluate(sums(g, Tensor::zeros(DType::kFloat, {0, 2}), {}, 0)).shape() == Shape{0, 2});
}

TEST_CASE("a segment that is not there is refused") {
  Graph g;
  CHECK_THROWS_WITH_AS(evaluate(sums(g, Tensor::vector<float>({1, 2}), {0, 3}, 3)),
                       "UnsortedSegmentSum 'UnsortedSegmentSum': segment_ids[1] = 3 is not in [0, 3)",
                       InvalidArgument);
  CHECK_THROWS_AS(sums(g, Tensor::vector<float>({1}), {0, 1}, 2), InvalidArgument);
  CHECK_THROWS_AS(sums(g, Tensor::vector<float>({1}), {0}, -2), InvalidArgument);
}

TEST_CASE("gathering along the second axis has TensorFlow's gradient") {
  const auto f = [](const Outputs& in) { return gather(in[0], Tensor::vector({2, 0, 2}), {.axis = 1}); };
  CHECK(golden_gap("gather_axis1", f, 1) == 0);
  CHECK(gradient_gap(f, {random({2, 3, 2})}) < 1e-6);
}

TEST_CASE("each row gets the gradient of its sum, and a row of a negative number none") {
  const auto f = [](const Outputs& in) -> Output {
    Graph& g = in[0].graph();
    const Output ids = constant(g, Tensor::matrix<int>({{2, 0}, {-1, 2}}));
    return g.add("UnsortedSegmentSum", {in[0], ids, constant(g, Tensor::scalar(3))});
  };
  CHECK(gradient_gap(f, {random({2, 2, 3})}) < 1e-6);
  CHECK(gradient_gap(f, {random({2, 2})}) < 1e-6);
  const auto unknown = [&](const Outputs& in) {
    return f({placeholder_with_default(in[0], Shape::unknown())});
  };
  CHECK(gradient_gap(unknown, {random({2, 2, 3})}) < 1e-6);
}

TEST_CASE("gathering within batches has the gradient that finite differences give") {
  struct {
    Shape params, indices;
    int axis, batch_dims;
  } const cases[] = {{{2, 4}, {2, 3}, 1, 1},
                     {{2, 3, 4}, {2, 5}, 2, 1},
                     {{2, 3, 4, 2}, {2, 3, 2}, 2, 2},
                     {{2, 4}, {2, 3}, -1, -1},
                     {{2, 4}, {2}, 1, 1}};
  for (const auto& c : cases)
    for (const bool known : {true, false}) {
      CAPTURE(c.params);
      CAPTURE(known);
      Tensor at(DType::kInt64, c.indices);
      for (std::size_t i = 0; i < static_cast<std::size_t>(at.elements()); ++i)
        at.mutable_values<std::int64_t>()[i] = static_cast<std::int64_t>(i * i % 2 + i % 3);
      const auto f = [&](const Outputs& in) {
        const Output x = known ? in[0] : Output(placeholder_with_default(in[0], Shape::unknown()));
        return gather(x, at, {.axis = c.axis, .batch_dims = c.batch_dims});
      };
      CHECK(gradient_gap(f, {random(c.params)}) < 1e-6);
    }
}
