// Evaluating one checkpoint after the other, and training and evaluating in turn: what is called when, on a
// clock that jumps.
#include <doctest/doctest.h>

#include "tests/train/estimator/fake_estimator.h"
#include "tests/train/supervisor/logged_lines.h"

using namespace runnel;

namespace {

struct Fixture {
  JumpingClock clock;
  std::shared_ptr<FakeEstimator> estimator = std::make_shared<FakeEstimator>(clock);
  ExperimentOptions options{.estimator = estimator, .train_input_fn = no_input, .eval_input_fn = no_input};

  std::vector<double> times() const {
    std::vector<double> seconds;
    for (const auto& each : estimator->evaluated_) seconds.push_back(each.at_seconds);
    return seconds;
  }
};

}  // namespace

// S3-19
TEST_CASE("continuous evaluations start no sooner than the throttle after the last start") {
  Fixture f;
  f.options.train_steps = 30;
  f.estimator->arrive_at(10);
  f.estimator->on_evaluate_ = [&] {  // takes 20 seconds, and meanwhile training goes on
    f.clock.advance(20);
    f.estimator->arrive_at(f.estimator->trained_steps() + 10);
  };
  const EvaluationResult last = Experiment(f.options).continuous_eval();
  CHECK(f.times() == std::vector<double>{120, 180});  // results of steps 20 and 30
  CHECK(last.global_step() == 30);
  CHECK(f.clock.seconds() == 200);  // nothing is waited for after the last one
  CHECK(f.estimator->evaluated_[0].options.name == "continuous");
  CHECK(f.estimator->evaluated_[0].options.checkpoint_path == "model.ckpt-10");
}

TEST_CASE("an evaluation longer than the throttle is followed by the next at once") {
  Fixture f;
  f.options.train_steps = 30;
  f.options.eval_delay_secs = 0;
  f.estimator->arrive_at(10);
  f.estimator->on_evaluate_ = [&] {
    f.clock.advance(75);
    f.estimator->arrive_at(f.estimator->trained_steps() + 10);
  };
  Experiment(f.options).continuous_eval();
  CHECK(f.times() == std::vector<double>{0, 75});
}

TEST_CASE("a checkpoint is evaluated once, and a missing one is waited for with a rare warning") {
  Fixture f;
  int rounds = 0;
  const LoggedLines log;
  Experiment(f.options).continuous_eval({.delay_secs = 0,
                                         .throttle_delay_secs = 60,
                                         .continuous_eval_predicate_fn = [&](const EvaluationResult& last) {
                                           if (++rounds == 15) f.estimator->arrive_at(10);
                                           CHECK(last.empty() == (rounds != 16));
                                           return rounds < 20;
                                         }});
  CHECK(f.times() == std::vector<double>{14 * 60});
  int warnings = 0;
  for (const std::string& line : log.all())
    warnings += line.find("There is no checkpoint yet") != std::string::npos;
  CHECK(warnings == 2);  // at 0 and after 600 s
  CHECK(log.has("There is no new checkpoint to evaluate."));
}

TEST_CASE("without a throttle a missing checkpoint is looked for once a second") {
  Fixture f;
  int rounds = 0;
  Experiment(f.options).continuous_eval(
      {.delay_secs = 0,
       .throttle_delay_secs = 0,
       .continuous_eval_predicate_fn = [&](const EvaluationResult&) { return ++rounds <= 5; }});
  CHECK(f.clock.seconds() == 5);
}

TEST_CASE("continuous_eval_on_train_data takes the training's input and writes elsewhere") {
  Fixture f;
  int train_calls = 0;
  f.options.train_steps = 10;
  f.options.train_input_fn = [&](Graph& graph) {
    ++train_calls;
    return no_input(graph);
  };
  f.estimator->arrive_at(10);
  Experiment(f.options).continuous_eval_on_train_data({.delay_secs = 3.0});
  CHECK(train_calls == 1);
  CHECK(f.estimator->evaluated_[0].options.name == "continuous_on_train_data");
  CHECK(f.times() == std::vector<double>{3});
}

// S3-23
TEST_CASE("continuous_train_and_eval goes by tenths of train_steps and no step too far") {
  Fixture f;
  f.options.train_steps = 25;
  const TrainAndEvaluateResult result = Experiment(f.options).continuous_train_and_eval();
  CHECK(f.estimator->trained_.size() == 13);  // 12 rounds of 2 and one of 1
  CHECK(result.evaluation.global_step() == 25);
  CHECK(f.estimator->evaluated_[0].options.name == "one_pass");
  CHECK(f.clock.seconds() == 0);
}

TEST_CASE("train_steps_per_iteration is what a round trains; few steps still make a round of one") {
  Fixture f;
  f.options.train_steps = 25;
  f.options.train_steps_per_iteration = 10;
  Experiment(f.options).continuous_train_and_eval();
  CHECK(f.estimator->trained_.size() == 3);
  Fixture few;
  few.options.train_steps = 5;
  Experiment(few.options).continuous_train_and_eval();
  CHECK(few.estimator->trained_.size() == 5);
}

TEST_CASE("rounds without train_steps train 1000 steps each until the predicate ends them") {
  Fixture f;
  int rounds = 0;
  const auto result =
      Experiment(f.options).continuous_train_and_eval([&](const EvaluationResult&) { return ++rounds <= 3; });
  CHECK(result.evaluation.global_step() == 3000);
}

TEST_CASE("rounds go on from a model that has enough steps by evaluating it only") {
  Fixture f;
  f.options.train_steps = 20;
  f.estimator->arrive_at(20);
  CHECK(Experiment(f.options).continuous_train_and_eval().evaluation.global_step() == 20);
  CHECK(f.estimator->trained_.empty());
  CHECK(f.estimator->evaluated_.size() == 1);
}

TEST_CASE("a stop ends a wait for hours and the evaluations after it") {
  Fixture f;
  f.estimator->arrive_at(10);
  f.estimator->on_evaluate_ = [&] { f.estimator->evaluated_.back().options.coord->request_stop(); };
  Experiment(f.options).continuous_eval({.delay_secs = 0, .throttle_delay_secs = 36'000});
  CHECK(f.estimator->evaluated_.size() == 1);
  CHECK(f.clock.seconds() == 0);
}
