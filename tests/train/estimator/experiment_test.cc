// The arguments of Experiment, and what its methods ask of an estimator and when. The estimator is a fake:
// what training does is in experiment_training_test.cc.
#include "train/estimator/experiment.h"

#include <doctest/doctest.h>

#include "tests/train/estimator/fake_estimator.h"
#include "tests/train/supervisor/logged_lines.h"
#include "train/estimator/worker_delay.h"

using namespace runnel;

namespace {

ExperimentOptions options_of(const std::shared_ptr<BaseEstimator>& estimator) {
  return {.estimator = estimator, .train_input_fn = no_input, .eval_input_fn = no_input};
}

InputFunction counted(int& calls) {
  return [&calls](Graph& graph) {
    ++calls;
    return no_input(graph);
  };
}

}  // namespace

// S3-10: this compiles only if the members stand in the order of the reference.
TEST_CASE("an Experiment has the reference's arguments, in order and with their defaults") {
  const ExperimentOptions o{.estimator = nullptr,
                            .train_input_fn = {},
                            .eval_input_fn = {},
                            .eval_metrics = {},
                            .train_steps = {},
                            .train_monitors = {}};
  CHECK_FALSE(o.train_steps);
  CHECK(o.eval_steps == 100);
  CHECK(o.eval_hooks.empty());
  CHECK_FALSE(o.local_eval_frequency);
  CHECK(o.eval_delay_secs == 120);
  CHECK(o.continuous_eval_throttle_secs == 60);
  CHECK_FALSE(o.min_eval_frequency);
  CHECK_FALSE(o.delay_workers_by_global_step);
  CHECK(o.export_strategies.empty());
  CHECK_FALSE(o.train_steps_per_iteration);
}

// S3-11, S3-13
TEST_CASE("nothing that an Experiment is given is called before a method needs it") {
  JumpingClock clock;
  const auto estimator = std::make_shared<FakeEstimator>(clock);
  int train_calls = 0, eval_calls = 0, exports = 0;
  Experiment experiment({.estimator = estimator,
                         .train_input_fn = counted(train_calls),
                         .eval_input_fn = counted(eval_calls),
                         .train_steps = 5,
                         .export_strategies = {{"e", [&](const ExportRequest&) { return cat(++exports); }}}});
  CHECK(train_calls + eval_calls + exports == 0);
  CHECK(estimator->trained_.empty());
  experiment.train();
  CHECK(train_calls == 1);
  CHECK(eval_calls == 0);
  experiment.evaluate();
  CHECK(eval_calls == 1);
  CHECK(exports == 0);
}

// S3-12
TEST_CASE("an Experiment refuses arguments that are missing or out of range, by name") {
  JumpingClock clock;
  const auto good = [&] { return options_of(std::make_shared<FakeEstimator>(clock)); };
  const auto refuse = [](ExperimentOptions o, const char* why) {
    CHECK_THROWS_WITH_AS(Experiment(std::move(o)), why, InvalidArgument);
  };
  ExperimentOptions o = good();
  o.estimator = nullptr;
  refuse(o, "Experiment: estimator is missing");
  o = good();
  o.eval_input_fn = {};
  refuse(o, "Experiment: eval_input_fn is missing");
  o = good();
  o.train_steps = 0;
  refuse(o, "Experiment: train_steps is 0; it must be over 0, or left out");
  o = good();
  o.train_steps_per_iteration = -3;
  refuse(o, "Experiment: train_steps_per_iteration is -3; it must be over 0, or left out");
  o = good();
  o.eval_delay_secs = -1;
  refuse(o, "Experiment: eval_delay_secs is -1; it must be 0 or more");
  o = good();
  o.export_strategies = {{"a/b", [](const ExportRequest&) { return ""; }}};
  refuse(o, "ExportStrategy: 'a/b' is no name for a folder of exports");
}

// S3-14
TEST_CASE("eval_metrics go to the evaluation, and are refused with an Estimator that has its own") {
  JumpingClock clock;
  const auto estimator = std::make_shared<FakeEstimator>(clock);
  ExperimentOptions o = options_of(estimator);
  o.eval_metrics =
      MetricFunctions{{"mine", [](const NamedOutputs&, const NamedOutputs&) { return Metric{}; }}};
  Experiment(o).evaluate();
  REQUIRE(estimator->evaluated_.size() == 1);
  CHECK(estimator->evaluated_[0].options.metrics.contains("mine"));
  estimator->takes_metrics_ = false;
  CHECK_THROWS_WITH_AS(Experiment{o},
                       "Experiment: eval_metrics must be left out with this estimator; return them as "
                       "eval_metric_ops from its model function",
                       InvalidArgument);
}

// S3-15, S3-16, S3-17
TEST_CASE("train passes steps and monitors, evaluate passes steps and hooks") {
  JumpingClock clock;
  const auto estimator = std::make_shared<FakeEstimator>(clock);
  const Hook monitor = std::make_shared<NamedHook>(), hook = std::make_shared<NamedHook>();
  ExperimentOptions o = options_of(estimator);
  o.train_monitors = {monitor};
  o.eval_hooks = {hook};
  Experiment forever(o);
  forever.train();
  CHECK_FALSE(estimator->trained_[0].max_steps);
  CHECK(&*estimator->trained_[0].hooks.at(0) == &*monitor);
  o.train_steps = 7;
  o.eval_steps = std::nullopt;
  Experiment experiment(o);
  experiment.extend_train_hooks({hook});
  CHECK(&experiment.train() == estimator.get());
  CHECK(estimator->trained_[1].max_steps == 7);
  CHECK(estimator->trained_[1].hooks.size() == 2);
  experiment.evaluate();
  CHECK_FALSE(estimator->evaluated_[0].options.steps);
  CHECK(estimator->evaluated_[0].options.name == "one_pass");
  CHECK(&*estimator->evaluated_[0].options.hooks.at(0) == &*hook);
}

// S3-18
TEST_CASE("an evaluation starts after eval_delay_secs, or after the delay of the call") {
  JumpingClock clock;
  const auto estimator = std::make_shared<FakeEstimator>(clock);
  Experiment experiment(options_of(estimator));
  const LoggedLines log;
  experiment.evaluate();
  CHECK(estimator->evaluated_[0].at_seconds == 120);
  CHECK(log.has("Waiting 120 secs before starting evaluation."));
  experiment.evaluate(5.0, "mine");
  CHECK(estimator->evaluated_[1].at_seconds == 125);
  CHECK(estimator->evaluated_[1].options.name == "mine");
  experiment.evaluate(0.0);
  CHECK(estimator->evaluated_[2].at_seconds == 125);
}

// S3-21
TEST_CASE("workers start one after the other, by time or by global step") {
  CHECK(worker_start_delay(0) == 0);
  CHECK(worker_start_delay(1) == 5);
  CHECK(worker_start_delay(30) == 60);
  CHECK(worker_start_step(0) == 0);
  CHECK(worker_start_step(1) == 5545);
  JumpingClock clock;
  const auto third = std::make_shared<FakeEstimator>(clock, RunConfigOptions{.task_id = 2});
  ExperimentOptions o = options_of(third);
  Experiment(o).train();
  CHECK(clock.seconds() == 10);
  CHECK(third->trained_[0].hooks.empty());
  Experiment(o).train(1.5);
  CHECK(clock.seconds() == 11.5);
  o.delay_workers_by_global_step = true;
  Experiment(o).train();
  CHECK(clock.seconds() == 11.5);
  CHECK(third->trained_[2].hooks.at(0)->name() == "GlobalStepWaiterHook");
}

// S3-20
TEST_CASE("train_and_evaluate evaluates each new checkpoint that is min_eval_frequency steps later") {
  JumpingClock clock;
  const auto estimator = std::make_shared<FakeEstimator>(clock);
  ExperimentOptions o = options_of(estimator);
  o.train_steps = 35;
  o.min_eval_frequency = 20;
  const TrainAndEvaluateResult result = Experiment(o).train_and_evaluate();
  std::vector<std::string> names;
  for (const auto& each : estimator->evaluated_) names.push_back(each.options.name);
  CHECK(names == std::vector<std::string>{"", ""});  // at 20, and the last one at 35
  CHECK(result.evaluation.global_step() == 35);
  CHECK(clock.seconds() == 0);
}

TEST_CASE("min_eval_frequency is 1 by default, 1000 on remote storage, and 0 evaluates only at the end") {
  const auto evaluations = [](std::optional<std::int64_t> frequency, const std::string& model_dir) {
    JumpingClock clock;
    const auto estimator = std::make_shared<FakeEstimator>(clock, RunConfigOptions{.model_dir = model_dir});
    ExperimentOptions o = options_of(estimator);
    o.train_steps = 35;
    o.min_eval_frequency = frequency;
    Experiment(o).train_and_evaluate();
    return estimator->evaluated_.size();
  };
  CHECK(evaluations({}, "m") == 4);       // 10, 20, 30, 35: the last is not evaluated twice
  CHECK(evaluations({}, "gs://m") == 1);  // at the end
  CHECK(evaluations(0, "m") == 1);
}

TEST_CASE("local_run evaluates every local_eval_frequency steps, or at the end only") {
  JumpingClock clock;
  const auto estimator = std::make_shared<FakeEstimator>(clock);
  ExperimentOptions o = options_of(estimator);
  o.train_steps = 30;
  Experiment(o).local_run();
  CHECK(estimator->evaluated_.size() == 1);
  estimator->evaluated_.clear();
  o.train_steps = 60;
  o.local_eval_frequency = 10;
  Experiment(o).local_run();
  CHECK(estimator->evaluated_.size() == 3);
}

// S3-22
TEST_CASE("every export strategy gets a folder of its own, and can be exchanged") {
  JumpingClock clock;
  const auto estimator = std::make_shared<FakeEstimator>(clock);
  const auto strategy = [](const char* name) {
    return ExportStrategy{
        name, [](const ExportRequest& r) { return cat(r.export_dir, "@", r.result.global_step()); }};
  };
  ExperimentOptions o = options_of(estimator);
  o.train_steps = 3;
  o.export_strategies = {strategy("a"), strategy("b")};
  Experiment experiment(o);
  CHECK(experiment.train_and_evaluate().exports ==
        std::vector<std::string>{"nowhere/export/a@3", "nowhere/export/b@3"});
  const std::vector<ExportStrategy> old = experiment.reset_export_strategies({strategy("c")});
  CHECK(old.size() == 2);
  CHECK(experiment.test().exports == std::vector<std::string>{"nowhere/export/c@4"});
  CHECK(experiment.reset_export_strategies().size() == 1);
  CHECK(experiment.test().exports.empty());
}

TEST_CASE("test makes one step of each") {
  JumpingClock clock;
  const auto estimator = std::make_shared<FakeEstimator>(clock);
  Experiment experiment(options_of(estimator));
  CHECK(experiment.test().evaluation.global_step() == 1);
  CHECK(estimator->trained_[0].steps == 1);
  CHECK(estimator->evaluated_[0].options.steps == 1);
}

TEST_CASE("run_std_server says that there are no clusters yet") {
  JumpingClock clock;
  Experiment experiment(options_of(std::make_shared<FakeEstimator>(clock)));
  CHECK_THROWS_WITH_AS(experiment.run_std_server(),
                       "Experiment::run_std_server: servers of a cluster are not there yet; use "
                       "train_and_evaluate in one process",
                       Unimplemented);
}
