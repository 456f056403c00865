// Results of an evaluation as numbers and as a line, and rows of predictions.
#include "train/estimator/evaluation_result.h"

#include <doctest/doctest.h>

#include "train/estimator/tensor_rows.h"

using namespace runnel;

TEST_CASE("a result is a line by name, with the fewest digits that tell a float") {
  EvaluationResult result;
  result.values = {{"loss", Tensor::scalar(0.1f)},
                   {"global_step", Tensor::scalar(std::int64_t{500})},
                   {"auc", Tensor::scalar(0.9351234197616577)}};
  CHECK(result.text() == "auc = 0.9351234197616577, global_step = 500, loss = 0.1");
  CHECK(result.number("loss") == doctest::Approx(0.1));
  CHECK(result.global_step() == 500);
}

TEST_CASE("a value that there is not, or that is no number, is refused") {
  EvaluationResult result;
  CHECK(result.empty());
  CHECK_THROWS_WITH_AS(result.number("loss"), "the evaluation has no 'loss': it is empty", NotFound);
  CHECK_THROWS_AS(result.global_step(), NotFound);
  result.values = {{"matrix", Tensor::matrix<float>({{1, 2}, {3, 4}})}, {"text", Tensor::scalar("a")}};
  CHECK_THROWS_AS(result.number("loss"), NotFound);
  CHECK_THROWS_AS(result.number("matrix"), InvalidArgument);
  CHECK_THROWS_AS(result.number("text"), InvalidArgument);
}

TEST_CASE("rows of numbers, texts and of nothing are cut out of a batch") {
  const Tensor batch = Tensor::matrix<float>({{1, 2}, {3, 4}, {5, 6}});
  CHECK(row_at(batch, 2) == Tensor::vector<float>({5, 6}));
  CHECK(row_at(Tensor::vector<std::string>({"a", "b"}), 1) == Tensor::scalar("b"));
  CHECK(row_at(Tensor::vector<std::int64_t>({7, 8}), 0) == Tensor::scalar(std::int64_t{7}));
  CHECK(row_at(Tensor(DType::kFloat, Shape{2, 0}), 1).elements() == 0);
  CHECK_THROWS_WITH_AS(row_at(batch, 3), "there is no row 3 in float[3,2]", InvalidArgument);
  CHECK_THROWS_AS(row_at(Tensor::scalar(1.0f), 0), InvalidArgument);
}
