// train_and_evaluate: when it evaluates, and what the end gives.
#include "train/estimator/train_and_evaluate.h"

#include <doctest/doctest.h>

#include "tests/graph/scratch_directory.h"
#include "tests/summary/reading.h"
#include "tests/train/estimator/line_model.h"
#include "train/estimator/export_folders.h"

using namespace runnel;

namespace {

std::vector<std::int64_t> evaluated_steps(const std::string& directory) {
  std::vector<std::int64_t> steps;
  for (const pb::Event& event : events_in(real_file_system(), directory))
    if (event.summary().value_size() > 0 && event.summary().value(0).tag() == "loss")
      steps.push_back(event.step());
  return steps;
}

// Lets the clock go on by a minute with each step.
class Minutes final : public SessionRunHook {
 public:
  explicit Minutes(ManualClock& clock) : clock_(clock) {}
  std::string name() const override { return "Minutes"; }
  void after_run(SessionRunContext&, const SessionRunValues&) override { clock_.advance(60); }

 private:
  ManualClock& clock_;
};

}  // namespace

TEST_CASE("checkpoints are evaluated when the throttle allows it, and the last one in any case") {
  const ScratchDirectory scratch;
  ManualClock clock;
  Estimator estimator(line::model, {.config = line::config(scratch.path(), 4, &clock)});
  const TrainAndEvaluateResult result = train_and_evaluate(
      estimator, {.input_fn = line::all_rows, .max_steps = 22, .hooks = {std::make_shared<Minutes>(clock)}},
      {.input_fn = line::batches_once(4), .steps = {}, .throttle_secs = 420});
  // Saved at 0, 4, 8, ..., 20 and 22: 4 is the first, 8 is 4 minutes later, 12 is 8 minutes later.
  CHECK(evaluated_steps(scratch / "eval") == std::vector<std::int64_t>{4, 12, 20, 22});
  CHECK(result.evaluation.global_step() == 22);
}

TEST_CASE("the last checkpoint is not evaluated twice, and a finished training is evaluated once more") {
  const ScratchDirectory scratch;
  Estimator estimator = line::estimator(scratch.path(), 5);
  const TrainSpec train{.input_fn = line::all_rows, .max_steps = 10};
  const EvalSpec eval{.input_fn = line::batches_once(4), .name = "x", .throttle_secs = 0};
  train_and_evaluate(estimator, train, eval);
  CHECK(evaluated_steps(scratch / "eval_x") == std::vector<std::int64_t>{5, 10});
  CHECK(train_and_evaluate(estimator, train, eval).evaluation.global_step() == 10);
  CHECK(evaluated_steps(scratch / "eval_x") == std::vector<std::int64_t>{5, 10, 10});
}

TEST_CASE("exporters get folders below the model's, the final one at the last step only") {
  const ScratchDirectory scratch;
  Estimator estimator = line::estimator(scratch.path(), 5);
  const TrainAndEvaluateResult result = train_and_evaluate(
      estimator, {.input_fn = line::all_rows, .max_steps = 15},
      {.input_fn = line::batches_once(4),
       .exporters = {latest_exporter({.name = "new", .serving_input_fn = line::serving_input}),
                     final_exporter({.name = "end", .serving_input_fn = line::serving_input})},
       .throttle_secs = 0});
  CHECK(export_folders(real_file_system(), scratch / "export/new").size() == 3);
  CHECK(export_folders(real_file_system(), scratch / "export/end").size() == 1);
  REQUIRE(result.exports.size() == 2);
  CHECK(result.exports[1].starts_with(scratch / "export/end/"));
}

TEST_CASE("specs that are incomplete or out of range are refused") {
  const ScratchDirectory scratch;
  Estimator estimator = line::estimator(scratch.path());
  const TrainSpec train{.input_fn = line::all_rows, .max_steps = 1};
  const EvalSpec eval{.input_fn = line::all_rows};
  const auto refuse = [&](const TrainSpec& t, const EvalSpec& e, const char* why) {
    CHECK_THROWS_WITH_AS(train_and_evaluate(estimator, t, e), why, InvalidArgument);
  };
  refuse({}, eval, "TrainSpec: input_fn is missing");
  refuse({.input_fn = line::all_rows, .max_steps = 0}, eval, "TrainSpec: max_steps is 0; it must be over 0");
  refuse(train, {}, "EvalSpec: input_fn is missing");
  refuse(train, {.input_fn = line::all_rows, .steps = 0}, "EvalSpec: steps is 0; it must be over 0");
  refuse(train, {.input_fn = line::all_rows, .throttle_secs = -1},
         "EvalSpec: start_delay_secs is 120 and throttle_secs is -1; both must be 0 or more");
  const auto exporter = latest_exporter({.name = "a", .serving_input_fn = line::serving_input});
  refuse(train, {.input_fn = line::all_rows, .exporters = {exporter, exporter}},
         "EvalSpec: two exporters are called 'a'");
  refuse(train, {.input_fn = line::all_rows, .exporters = {nullptr}}, "EvalSpec: an exporter is empty");
}
