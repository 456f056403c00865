// Evaluating during training, and stopping when it no longer helps.
#include "train/estimator/validation_monitor.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>

#include "tests/graph/scratch_directory.h"
#include "tests/train/estimator/fake_estimator.h"
#include "tests/train/estimator/line_model.h"
#include "tests/train/supervisor/logged_lines.h"

using namespace runnel;

namespace {

// A monitor on a fake estimator, told of one step after the other.
struct Steps {
  explicit Steps(ValidationMonitorOptions options) : monitor(estimator, with_input(std::move(options))) {
    create_global_step(graph);
    monitor.begin(graph);
  }
  static ValidationMonitorOptions with_input(ValidationMonitorOptions options) {
    options.input_fn = no_input;
    return options;
  }

  // True if the monitor asks for a stop.
  bool step(std::int64_t step) {
    SessionRunContext context(args, session);
    const std::vector<Tensor> results = {Tensor::scalar(step)};
    monitor.after_run(context, {.results = results});
    return context.stop_requested();
  }

  JumpingClock clock;
  FakeEstimator estimator{clock};
  Graph graph;
  Session session{graph};
  SessionRunArgs args;
  ValidationMonitor monitor;
};

}  // namespace

TEST_CASE("only a new checkpoint is evaluated, every so many steps and seconds") {
  Steps steps({.every_n_steps = 10, .name = "mine", .check_interval_secs = 5});
  const LoggedLines log;
  for (int s = 1; s <= 20; ++s) steps.step(s);
  CHECK(steps.estimator.evaluated_.empty());  // no checkpoint yet
  steps.estimator.arrive_at(20);
  steps.step(30);
  CHECK(steps.estimator.evaluated_.empty());  // looked less than five seconds ago
  steps.clock.advance(5);
  steps.step(31);
  REQUIRE(steps.estimator.evaluated_.size() == 1);
  CHECK(steps.estimator.evaluated_[0].options.name == "mine");
  CHECK(steps.estimator.evaluated_[0].options.checkpoint_path == "model.ckpt-20");
  CHECK(log.has("Validation (step 31): global_step = 20, loss = "));
  steps.clock.advance(5);
  steps.step(41);
  CHECK(steps.estimator.evaluated_.size() == 1);  // the same checkpoint
  steps.estimator.arrive_at(40);
  steps.clock.advance(5);
  steps.step(50);
  CHECK(steps.estimator.evaluated_.size() == 1);  // nine steps after the last look
  steps.step(51);
  CHECK(steps.estimator.evaluated_.size() == 2);
}

TEST_CASE("a period beyond all steps is never over") {
  Steps steps({.every_n_steps = std::numeric_limits<std::int64_t>::max()});
  steps.estimator.arrive_at(20);
  steps.step(20);
  CHECK(steps.estimator.evaluated_.empty());
}

TEST_CASE("training stops when the metric has not been better for early_stopping_rounds steps") {
  Steps steps({.every_n_steps = 1,
               .early_stopping_rounds = 30,
               .early_stopping_metric_minimize = false,
               .check_interval_secs = 0});
  const auto at = [&](std::int64_t step) {  // the fake's loss falls, which is worse here
    steps.estimator.arrive_at(step);
    return steps.step(step);
  };
  CHECK_FALSE(at(10));
  CHECK_FALSE(at(20));
  CHECK_FALSE(at(39));
  CHECK(at(40));
  CHECK(steps.monitor.early_stopped());
  CHECK(steps.monitor.best_step() == 10);
  CHECK(steps.monitor.best_metrics().global_step() == 10);
}

TEST_CASE("a metric that gets better goes on") {
  Steps steps({.every_n_steps = 1, .early_stopping_rounds = 5, .check_interval_secs = 0});
  for (int s = 1; s < 100; s += 10) {
    steps.estimator.arrive_at(s);
    CHECK_FALSE(steps.step(s));
  }
  CHECK(steps.monitor.best_step() == 91);
}

TEST_CASE("a metric that the evaluation lacks is an error that names those it has") {
  Steps steps({.every_n_steps = 1, .early_stopping_rounds = 5, .early_stopping_metric = "auc"});
  steps.estimator.arrive_at(1);
  CHECK_THROWS_WITH_AS(steps.step(1), "the evaluation has no 'auc'; it has global_step = 1, loss = 0.5",
                       NotFound);
}

TEST_CASE("a ValidationMonitor refuses arguments that are missing or out of range") {
  JumpingClock clock;
  FakeEstimator estimator(clock);
  CHECK_THROWS_AS(ValidationMonitor(estimator, {}), InvalidArgument);
  CHECK_THROWS_AS(ValidationMonitor(estimator, {.input_fn = no_input, .every_n_steps = 0}), InvalidArgument);
  CHECK_THROWS_AS(ValidationMonitor(estimator, {.input_fn = no_input, .early_stopping_rounds = 0}),
                  InvalidArgument);
  CHECK_THROWS_AS(ValidationMonitor(estimator, {.input_fn = no_input, .check_interval_secs = -1}),
                  InvalidArgument);
}

TEST_CASE("a real training ends early, with the monitor as the reason") {
  const ScratchDirectory scratch;
  const auto steady = [](const ModelContext& c) {  // learns nothing
    EstimatorSpec spec = line::model(c);
    if (c.mode == ModeKeys::kTrain)
      spec.train_op = assign_add(get_global_step(c.graph), std::int64_t{1}).node();
    return spec;
  };
  Estimator estimator(steady, {.config = line::config(scratch.path(), 5)});
  const auto monitor = std::make_shared<ValidationMonitor>(
      estimator, ValidationMonitorOptions{.input_fn = line::batches_once(4),
                                          .every_n_steps = 5,
                                          .early_stopping_rounds = 20,
                                          .check_interval_secs = 0});
  estimator.train(line::all_rows, {.hooks = {monitor}, .max_steps = 1000});
  CHECK(monitor->early_stopped());
  CHECK(estimator.stop_reason().cause == StopCause::kHook);
  CHECK(estimator.stop_reason().text.find("ValidationMonitor: loss was best at step") != std::string::npos);
  CHECK(estimator.trained_steps() < 50);
}
