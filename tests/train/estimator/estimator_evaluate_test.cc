// Evaluation: exact to the last row, of the checkpoint that is asked for, and where it is written.
#include <doctest/doctest.h>

#include "ops/loss_ops.h"
#include "tests/graph/scratch_directory.h"
#include "tests/summary/reading.h"
#include "tests/train/estimator/line_model.h"
#include "tests/train/supervisor/logged_lines.h"

using namespace runnel;

namespace {

// Of the rows from `begin` to `end` with w = b = 0: the mean of the squares of y.
double mean_square(std::size_t begin, std::size_t end) {
  const std::vector<float> ys = line::ys();
  double sum = 0;
  for (std::size_t i = begin; i < end; ++i) sum += static_cast<double>(ys[i]) * static_cast<double>(ys[i]);
  return sum / static_cast<double>(end - begin);
}

}  // namespace

TEST_CASE("every row counts once, those of a last smaller batch too") {
  const ScratchDirectory scratch;
  Estimator estimator = line::estimator(scratch.path());
  const LoggedLines log;
  const EvaluationResult result = estimator.evaluate(line::batches_once(4));
  CHECK(result.number("mse") == doctest::Approx(mean_square(0, 10)));
  // The loss is a mean of the batches' losses, as in TensorFlow.
  const double of_batches = (mean_square(0, 4) + mean_square(4, 8) + mean_square(8, 10)) / 3;
  CHECK(result.number("loss") == doctest::Approx(of_batches));
  CHECK(result.global_step() == 0);
  CHECK(log.has("There is no trained model"));
}

TEST_CASE("steps is the number of batches, and an input that ends before it ends the evaluation") {
  const ScratchDirectory scratch;
  Estimator estimator = line::estimator(scratch.path());
  CHECK(estimator.evaluate(line::batches_once(4), {.steps = 2}).number("mse") ==
        doctest::Approx(mean_square(0, 8)));
  CHECK(estimator.evaluate(line::batches_once(4), {.steps = 100}).number("mse") ==
        doctest::Approx(mean_square(0, 10)));
  CHECK(estimator.evaluate(line::all_rows, {.steps = 3}).number("mse") ==
        doctest::Approx(mean_square(0, 10)));
}

TEST_CASE("a trained model is evaluated, its newest checkpoint or the one that is given") {
  const ScratchDirectory scratch;
  Estimator estimator = line::estimator(scratch.path(), 20);
  estimator.train(line::all_rows, {.max_steps = 40});
  const EvaluationResult newest = estimator.evaluate(line::batches_once(10));
  const EvaluationResult older =
      estimator.evaluate(line::batches_once(10), {.checkpoint_path = scratch / "model.ckpt-20"});
  CHECK(newest.global_step() == 40);
  CHECK(newest.checkpoint_path == scratch / "model.ckpt-40");
  CHECK(older.global_step() == 20);
  CHECK(older.number("loss") > newest.number("loss"));
  CHECK(estimator.get_variable_value("global_step") == Tensor::scalar(std::int64_t{40}));
}

TEST_CASE(
    "an evaluation writes one event of all values at the checkpoint's step, and the checkpoint's path") {
  const ScratchDirectory scratch;
  Estimator estimator = line::estimator(scratch.path());
  estimator.train(line::all_rows, {.max_steps = 3});
  const LoggedLines log;
  const EvaluationResult result = estimator.evaluate(line::batches_once(10), {.name = "test"});
  CHECK(log.has("Saving dict for global step 3: global_step = 3, loss = "));
  const auto events = events_in(real_file_system(), scratch / "eval_test");
  REQUIRE(events.size() == 4);  // the graph is the first two
  CHECK(events[2].step() == 3);
  REQUIRE(events[2].summary().value_size() == 2);
  CHECK(events[2].summary().value(0).tag() == "loss");
  CHECK(events[2].summary().value(1).tag() == "mse");
  CHECK(static_cast<double>(events[2].summary().value(1).simple_value()) == result.number("mse"));
  CHECK(events[3].summary().value(0).tag() == "checkpoint_path");
  CHECK(events[3].summary().value(0).tensor().string_val(0) == scratch / "model.ckpt-3");
}

TEST_CASE("a metric cannot take the name of a result that every evaluation has") {
  const ScratchDirectory scratch;
  for (const char* name : {"loss", "global_step"}) {
    const auto model = [&](const ModelContext& c) {
      EstimatorSpec spec = line::model(c);
      spec.eval_metric_ops.emplace(name, metrics::mean(spec.loss));
      return spec;
    };
    CHECK_THROWS_WITH_AS(
        Estimator(model, {.config = line::config(scratch.path())}).evaluate(line::batches_once(4)),
        cat("Estimator::evaluate: a metric cannot be called '", name,
            "': that is a result of every evaluation; give it another name")
            .c_str(),
        InvalidArgument);
  }
}

TEST_CASE("evaluate refuses steps of 0 and metrics from outside") {
  const ScratchDirectory scratch;
  Estimator estimator = line::estimator(scratch.path());
  CHECK_THROWS_AS(estimator.evaluate(line::all_rows, {.steps = 0}), InvalidArgument);
  const MetricFunctions mine = {{"mine", [](const NamedOutputs&, const NamedOutputs&) { return Metric{}; }}};
  CHECK_THROWS_AS(estimator.evaluate(line::all_rows, {.metrics = mine}), InvalidArgument);
}

TEST_CASE("an evaluation that a stop cuts short has no result and writes nothing") {
  const ScratchDirectory scratch;
  Coordinator coord;
  coord.request_stop();
  Estimator estimator = line::estimator(scratch.path());
  CHECK(estimator.evaluate(line::all_rows, {.coord = &coord}).empty());
  CHECK_FALSE(real_file_system().exists(scratch / "eval"));
}

TEST_CASE("a metric that is no scalar is stored as a tensor in the same event") {
  const ScratchDirectory scratch;
  const auto model = [](const ModelContext& c) {
    EstimatorSpec spec = line::model(c);
    spec.eval_metric_ops.emplace("each", metrics::mean_tensor(spec.predictions["y"]));
    return spec;
  };
  Estimator estimator(model, {.config = line::config(scratch.path())});
  CHECK(estimator.evaluate(line::all_rows, {.steps = 1}).values.at("each").elements() == line::kRows);
  const auto events = events_in(real_file_system(), scratch / "eval");
  REQUIRE(events.size() == 3);
  CHECK(events[2].summary().value(0).tag() == "each");
  CHECK(events[2].summary().value(0).tensor().tensor_shape().dim(0).size() == line::kRows);
}

TEST_CASE("an evaluation that cannot be logged has its result all the same, and a warning says so") {
  const ScratchDirectory scratch;
  write_file_atomically(real_file_system(), scratch / "eval", "in the way");
  const LoggedLines log;
  const EvaluationResult result = line::estimator(scratch.path()).evaluate(line::batches_once(4));
  CHECK(result.number("mse") == doctest::Approx(mean_square(0, 10)));
  CHECK(log.has("warning: the evaluation of step 0 is not in the log: "));
}
