// Running experiments by the name of a schedule.
#include "train/estimator/learn_runner.h"

#include <doctest/doctest.h>

#include "tests/train/estimator/fake_estimator.h"

using namespace runnel;

namespace {

struct Made {
  JumpingClock clock;
  std::shared_ptr<FakeEstimator> estimator;
  std::string directory;

  Experiment of(const std::string& model_dir) {
    directory = model_dir;
    estimator = std::make_shared<FakeEstimator>(clock, RunConfigOptions{.model_dir = model_dir});
    return Experiment(
        {.estimator = estimator, .train_input_fn = no_input, .eval_input_fn = no_input, .train_steps = 10});
  }
};

}  // namespace

TEST_CASE("run makes the experiment and calls train_and_evaluate unless told otherwise") {
  Made made;
  const auto of_directory = [&](const std::string& output_dir) { return made.of(output_dir); };
  CHECK(learn_runner::run(of_directory, {.output_dir = "out"}).evaluation.global_step() == 10);
  CHECK(made.directory == "out");
  learn_runner::run(of_directory, {.output_dir = "out", .schedule = "train"});
  CHECK(made.estimator->trained_.size() == 1);
  CHECK(made.estimator->evaluated_.empty());
  learn_runner::run(of_directory, {.output_dir = "out", .schedule = "evaluate"});
  CHECK(made.estimator->trained_.empty());
  CHECK_THROWS_AS(learn_runner::run(of_directory, {.output_dir = "out", .schedule = "run_std_server"}),
                  Unimplemented);
}

TEST_CASE("run hands a RunConfig and hyperparameters to a function that takes them") {
  Made made;
  const auto of_config = [&](const RunConfig& config, const Params& params) {
    CHECK(params.at("rate") == hp::Value(0.5));
    return made.of(config.model_dir());
  };
  const RunConfig config({.model_dir = "here"});
  learn_runner::run(of_config, {.schedule = "test", .run_config = config, .hparams = Params{{"rate", 0.5}}});
  CHECK(made.directory == "here");
  CHECK_THROWS_WITH_AS(
      learn_runner::run([&](const RunConfig&, const Params&) { return made.of("elsewhere"); },
                        {.run_config = config}),
      "learn_runner: the experiment's estimator has the model_dir 'elsewhere', but run_config says 'here'; "
      "make "
      "the estimator with the run_config that the function is given",
      FailedPrecondition);
}

TEST_CASE("run refuses both and neither of output_dir and run_config, and the wrong one") {
  Made made;
  const auto of_directory = [&](const std::string& output_dir) { return made.of(output_dir); };
  const auto of_config = [&](const RunConfig& config, const Params&) { return made.of(config.model_dir()); };
  const RunConfig config({.model_dir = "here"});
  CHECK_THROWS_WITH_AS(learn_runner::run(of_directory, {}),
                       "learn_runner: give either output_dir or run_config", InvalidArgument);
  CHECK_THROWS_AS(learn_runner::run(of_directory, {.output_dir = "a", .run_config = config}),
                  InvalidArgument);
  CHECK_THROWS_AS(learn_runner::run(of_directory, {.run_config = config}), InvalidArgument);
  CHECK_THROWS_AS(learn_runner::run(of_config, {.output_dir = "a"}), InvalidArgument);
  CHECK_THROWS_AS(learn_runner::run(of_config, {.run_config = RunConfig()}), InvalidArgument);
  CHECK_THROWS_WITH_AS(learn_runner::run(of_directory, {.output_dir = "a", .hparams = Params{}}),
                       "learn_runner: hparams go with run_config, not with output_dir", InvalidArgument);
}

TEST_CASE("a schedule that there is not is refused with those that there are, before anything is made") {
  Made made;
  CHECK_THROWS_WITH_AS(
      learn_runner::run([&](const std::string& d) { return made.of(d); },
                        {.output_dir = "a", .schedule = "fly"}),
      "learn_runner: there is no schedule 'fly'; there are continuous_eval, continuous_eval_on_train_data, "
      "continuous_train_and_eval, evaluate, local_run, run_std_server, test, train, train_and_evaluate",
      InvalidArgument);
  CHECK_FALSE(made.estimator);
}

TEST_CASE("tune runs trials until the tuner has no more") {
  struct Three final : learn_runner::Tuner {
    bool next_trial() override { return ++trials <= 3; }
    void run_experiment(const learn_runner::ExperimentFunction& f) override {
      learn_runner::run(f, {.output_dir = cat("trial", trials)});
    }
    int trials = 0;
  } tuner;
  Made made;
  learn_runner::tune([&](const std::string& d) { return made.of(d); }, tuner);
  CHECK(made.directory == "trial3");
}
