// What a model function must return in each mode.
#include "train/estimator/model_fn.h"

#include <doctest/doctest.h>

#include "graph/dataflow.h"
#include "ops/array_ops.h"

using namespace runnel;

TEST_CASE("modes have TensorFlow's names") {
  CHECK(std::string(name_of(ModeKeys::kTrain)) == "train");
  CHECK(std::string(name_of(ModeKeys::kEval)) == "eval");
  CHECK(std::string(name_of(ModeKeys::kPredict)) == "infer");
}

TEST_CASE("a spec that lacks what its mode needs is refused by name") {
  Graph g;
  const Output x = constant(g, Tensor::scalar(1.0f));
  CHECK_THROWS_WITH_AS(
      require_complete({.mode = ModeKeys::kTrain, .train_op = x.node()}, ModeKeys::kTrain, g),
      "EstimatorSpec: loss is missing; a model in mode 'train' must return it", InvalidArgument);
  CHECK_THROWS_WITH_AS(require_complete({.mode = ModeKeys::kTrain, .loss = x}, ModeKeys::kTrain, g),
                       "EstimatorSpec: train_op is missing; a model in mode 'train' must return it",
                       InvalidArgument);
  CHECK_THROWS_AS(require_complete({.mode = ModeKeys::kEval}, ModeKeys::kEval, g), InvalidArgument);
  CHECK_THROWS_AS(require_complete({.mode = ModeKeys::kPredict, .loss = x}, ModeKeys::kPredict, g),
                  InvalidArgument);
  CHECK_THROWS_WITH_AS(
      require_complete({.mode = ModeKeys::kTrain, .loss = x}, ModeKeys::kEval, g),
      "EstimatorSpec: the model function returned one of mode 'train' when it was called in mode 'eval'",
      InvalidArgument);
  CHECK_NOTHROW(require_complete({.mode = ModeKeys::kPredict, .predictions = x}, ModeKeys::kPredict, g));
}

TEST_CASE("a loss that is no scalar, or of another graph, is refused") {
  Graph g, other;
  const Output wide = constant(g, Tensor::vector<float>({1, 2}), {.name = "wide"});
  CHECK_THROWS_WITH_AS(require_complete({.mode = ModeKeys::kEval, .loss = wide}, ModeKeys::kEval, g),
                       "EstimatorSpec: the loss must be a scalar, but wide:0 is float[2]", InvalidArgument);
  const Output one = constant(g, Tensor::vector<float>({1}));
  CHECK_NOTHROW(require_complete({.mode = ModeKeys::kEval, .loss = one}, ModeKeys::kEval, g));
  CHECK_THROWS_AS(require_complete({.mode = ModeKeys::kEval, .loss = one}, ModeKeys::kEval, other),
                  InvalidArgument);
}
