// Predictions row by row.
#include <doctest/doctest.h>

#include "tests/graph/scratch_directory.h"
#include "tests/train/estimator/line_model.h"

using namespace runnel;

TEST_CASE("there is a prediction for every row, in the order of the input") {
  const ScratchDirectory scratch;
  Estimator estimator = line::estimator(scratch.path());
  estimator.train(line::all_rows, {.max_steps = 5});
  const float w = estimator.get_variable_value("w").scalar<float>();
  const float b = estimator.get_variable_value("b").scalar<float>();
  const std::vector<Prediction> rows = estimator.predict(line::batches_once(4));
  REQUIRE(rows.size() == line::kRows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    CHECK(rows[i].at("x") == Tensor::scalar(line::xs()[i]));
    CHECK(rows[i].at("y").scalar<float>() == doctest::Approx(w * line::xs()[i] + b));
  }
}

TEST_CASE("predict_keys are what a row has, and a key that there is not is refused") {
  const ScratchDirectory scratch;
  Estimator estimator = line::estimator(scratch.path());
  const auto rows = estimator.predict(line::batches_once(4), {.predict_keys = {"y"}});
  CHECK(rows.front().size() == 1);
  CHECK(rows.front().contains("y"));
  CHECK_THROWS_WITH_AS(estimator.predict(line::batches_once(4), {.predict_keys = {"z"}}),
                       "there is no tensor called 'z' here; there are 'x', 'y'", NotFound);
}

TEST_CASE("predictions end with the caller's false, or after `steps` batches") {
  const ScratchDirectory scratch;
  Estimator estimator = line::estimator(scratch.path());
  int seen = 0;
  estimator.predict(line::all_rows, {}, [&](const Prediction&) { return ++seen < 13; });
  CHECK(seen == 13);
  CHECK(estimator.predict(line::all_rows, {.steps = 2}).size() == 2 * line::kRows);
  CHECK_THROWS_AS(estimator.predict(line::all_rows, {.steps = 0}), InvalidArgument);
}

TEST_CASE("a prediction that is no row for each example is refused") {
  const ScratchDirectory scratch;
  const auto predict = [&](bool scalar) {
    const auto model = [scalar](const ModelContext& c) {
      EstimatorSpec spec = line::model(c);
      const Output y = spec.predictions["y"];
      spec.predictions = {{"y", y},
                          {"z", scalar ? reduce_mean(y) : constant(c.graph, Tensor::vector<float>({1, 2}))}};
      return spec;
    };
    Estimator(model, {.config = line::config(scratch.path())}).predict(line::batches_once(10));
  };
  CHECK_THROWS_WITH_AS(
      predict(true),
      "Estimator::predict: the prediction 'z' is a scalar; a batch must have a row for each example",
      InvalidArgument);
  CHECK_THROWS_WITH_AS(predict(false), "Estimator::predict: the prediction 'z' has 2 rows, but 'y' has 10",
                       InvalidArgument);
}
