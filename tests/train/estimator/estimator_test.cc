// Training with an Estimator: steps, checkpoints, hooks, and where it goes on from.
#include "train/estimator/estimator.h"

#include <doctest/doctest.h>

#include <cmath>
#include <optional>

#include "ops/array_movement_ops.h"
#include "summary/summary_ops.h"
#include "tests/graph/scratch_directory.h"
#include "tests/summary/reading.h"
#include "tests/train/estimator/line_model.h"
#include "tests/train/supervisor/logged_lines.h"
#include "train/checkpoint/stored_checkpoints.h"
#include "train/monitored/nan_tensor_hook.h"

using namespace runnel;

namespace {

// Remembers what it is told.
class Listener final : public CheckpointSaverListener {
 public:
  bool after_save(Session&, std::int64_t step) override {
    saved.push_back(step);
    return false;
  }
  std::vector<std::int64_t> saved;
};

// How many summaries of the tag there are, by step.
std::vector<std::int64_t> steps_of_tag(const std::string& directory, const std::string& tag) {
  std::vector<std::int64_t> steps;
  for (const std::string& name : real_file_system().list(directory)) {
    if (name.find("tfevents") == std::string::npos) continue;
    for (const pb::Event& event : events_of(real_file_system(), join_path(directory, name)))
      for (const auto& value : event.summary().value())
        if (value.tag() == tag) steps.push_back(event.step());
  }
  return steps;
}

}  // namespace

TEST_CASE("training goes on where the last one stopped, and saves its last step") {
  const ScratchDirectory scratch;
  Estimator estimator = line::estimator(scratch.path());
  const LoggedLines log;
  CHECK(estimator.train(line::all_rows, {.steps = 7}).latest_checkpoint() == scratch / "model.ckpt-7");
  const double loss = estimator.final_loss().value();
  CHECK(estimator.stop_reason().cause == StopCause::kStepsReached);
  estimator.train(line::all_rows, {.steps = 3});
  CHECK(line::saved_steps(scratch.path()) == std::vector<std::int64_t>{0, 7, 10});
  CHECK(estimator.final_loss().value() < loss);
  CHECK(log.has("Loss for final step: "));
  CHECK(log.has("loss = "));
}

TEST_CASE("a training in two parts ends with the bits of one in one part") {
  const ScratchDirectory one, two;
  Estimator whole = line::estimator(one.path()), parts = line::estimator(two.path());
  whole.train(line::all_rows, {.max_steps = 20});
  parts.train(line::all_rows, {.max_steps = 9});
  line::estimator(two.path()).train(line::all_rows, {.max_steps = 20});
  for (const char* name : {"w", "b", "global_step"})
    CHECK(whole.get_variable_value(name) == parts.get_variable_value(name));
}

TEST_CASE("training is skipped when a checkpoint has max_steps, and the input is not made") {
  const ScratchDirectory scratch;
  Estimator estimator = line::estimator(scratch.path());
  estimator.train(line::all_rows, {.max_steps = 5});
  const LoggedLines log;
  bool called = false;
  estimator.train(
      [&](Graph& graph) {
        called = true;
        return line::all_rows(graph);
      },
      {.max_steps = 5});
  CHECK_FALSE(called);
  CHECK(log.has("Skipping training"));
  estimator.train(line::all_rows, {.max_steps = 6});
  CHECK(line::saved_steps(scratch.path()) == std::vector<std::int64_t>{0, 5, 6});
}

TEST_CASE("train refuses arguments that contradict each other") {
  const ScratchDirectory scratch;
  Estimator estimator = line::estimator(scratch.path());
  CHECK_THROWS_WITH_AS(estimator.train(line::all_rows, {.steps = 1, .max_steps = 1}),
                       "Estimator::train: give either steps or max_steps", InvalidArgument);
  CHECK_THROWS_WITH_AS(estimator.train(line::all_rows, {.steps = 0}),
                       "Estimator::train: steps is 0; it must be over 0", InvalidArgument);
  CHECK_THROWS_AS(estimator.train(line::all_rows, {.max_steps = -1}), InvalidArgument);
  CHECK_THROWS_WITH_AS(estimator.train({}, {.steps = 1}), "Estimator: input_fn is missing", InvalidArgument);
  CHECK_THROWS_WITH_AS(Estimator({}), "Estimator: model_fn is missing", InvalidArgument);
  CHECK_THROWS_AS(Estimator(line::model, {.model_dir = "a", .config = line::config("b")}), InvalidArgument);
  const RunConfig off = line::config(scratch.path()).replace({.save_checkpoints_secs = none});
  CHECK_THROWS_AS(
      Estimator(line::model, {.config = off})
          .train(line::all_rows, {.steps = 1, .saving_listeners = {std::make_shared<Listener>()}}),
      InvalidArgument);
}

TEST_CASE("checkpoints come every save_checkpoints_steps, the newest few are kept, listeners hear of all") {
  const ScratchDirectory scratch;
  const RunConfig config =
      line::config(scratch.path(), 4).replace({.keep_checkpoint_max = std::optional<int>(2)});
  const auto listener = std::make_shared<Listener>();
  Estimator(line::model, {.config = config})
      .train(line::all_rows, {.max_steps = 10, .saving_listeners = {listener}});
  CHECK(listener->saved == std::vector<std::int64_t>{0, 4, 8, 10});
  CHECK(line::saved_steps(scratch.path()) == std::vector<std::int64_t>{8, 10});
}

TEST_CASE("a CheckpointSaverHook of the caller saves in place of the own one, and has the listeners") {
  const ScratchDirectory scratch;
  const auto listener = std::make_shared<Listener>();
  const auto saver =
      std::make_shared<CheckpointSaverHook>(scratch / "mine", CheckpointSaverHookOptions{.save_steps = 5});
  line::estimator(scratch.path())
      .train(line::all_rows, {.hooks = {saver}, .max_steps = 5, .saving_listeners = {listener}});
  CHECK(listener->saved == std::vector<std::int64_t>{0, 5});
  CHECK(line::saved_steps(scratch / "mine") == std::vector<std::int64_t>{0, 5});
  CHECK(line::saved_steps(scratch.path()).empty());
}

TEST_CASE("the loss is a curve, unless the model has one of that name") {
  const ScratchDirectory scratch;
  const RunConfig config =
      line::config(scratch / "a").replace({.save_summary_steps = std::optional<std::int64_t>(2)});
  Estimator(line::model, {.config = config}).train(line::all_rows, {.max_steps = 5});
  CHECK(steps_of_tag(scratch / "a", "loss") == std::vector<std::int64_t>{1, 3, 5});
  const auto own = [](const ModelContext& c) {
    EstimatorSpec spec = line::model(c);
    summary::scalar("loss", spec.loss);
    return spec;
  };
  Estimator(own, {.config = config.replace({.model_dir = scratch / "b"})})
      .train(line::all_rows, {.max_steps = 5});
  CHECK(steps_of_tag(scratch / "b", "loss") == std::vector<std::int64_t>{1, 3, 5});
  CHECK(steps_of_tag(scratch / "b", "loss_1").empty());
}

TEST_CASE("a loss that is NaN ends the training with an error") {
  const ScratchDirectory scratch;
  const auto diverges = [](const ModelContext& c) {
    EstimatorSpec spec = line::model(c);
    spec.loss = spec.loss * Tensor::scalar(std::nanf(""));
    return spec;
  };
  Estimator estimator(diverges, {.config = line::config(scratch.path())});
  CHECK_THROWS_AS(estimator.train(line::all_rows, {.max_steps = 5}), NanLossDuringTrainingError);
}

TEST_CASE("a loss that has no value in a step ends the training with an error that names it") {
  const ScratchDirectory scratch;
  const auto model = [](const ModelContext& c) {
    EstimatorSpec spec = line::model(c);
    summary::scalar("loss", spec.loss);
    const Output none =
        range(std::int64_t{0} * get_global_step(c.graph).value(), std::int64_t{0}, std::int64_t{1});
    spec.loss = gather(reshape(spec.loss, {1}), none, {.name = "last_batch"});
    return spec;
  };
  Estimator estimator(model,
                      {.config = line::config(scratch.path())
                                     .replace({.save_summary_steps = std::optional<std::int64_t>(),
                                               .log_step_count_steps = std::optional<std::int64_t>()})});
  CHECK_THROWS_WITH_AS(
      estimator.train(line::all_rows, {.max_steps = 3}),
      "Estimator::train: the loss 'last_batch:0' is float[0] in this step; it must be one value",
      InvalidArgument);
}

TEST_CASE("an input that ends is the normal end of training, and its last step is saved") {
  const ScratchDirectory scratch;
  Estimator estimator = line::estimator(scratch.path());
  estimator.train(line::batches_once(4));
  CHECK(estimator.stop_reason().cause == StopCause::kInputExhausted);
  CHECK(line::saved_steps(scratch.path()) == std::vector<std::int64_t>{0, 3});
}

TEST_CASE("a stop of the coordinator that is given ends the training, and its last step is saved") {
  const ScratchDirectory scratch;
  Coordinator coord;
  class StopAtThree final : public SessionRunHook {
   public:
    explicit StopAtThree(Coordinator& coord) : coord_(coord) {}
    std::string name() const override { return "StopAtThree"; }
    void after_run(SessionRunContext&, const SessionRunValues&) override {
      if (++runs_ == 3)
        coord_.request_stop(StopReason{.cause = StopCause::kSignal, .text = "SIGTERM", .signal = 15});
    }

   private:
    Coordinator& coord_;
    int runs_ = 0;
  };
  Estimator estimator = line::estimator(scratch.path());
  estimator.train(line::all_rows, {.hooks = {std::make_shared<StopAtThree>(coord)}, .coord = &coord});
  CHECK(estimator.stop_reason().cause == StopCause::kSignal);
  CHECK(estimator.stop_reason().exit_code() == 128 + 15);
  CHECK(line::saved_steps(scratch.path()) == std::vector<std::int64_t>{0, 3});
}

TEST_CASE("a damaged newest checkpoint is passed over: training goes on from the one before") {
  const ScratchDirectory scratch;
  Estimator estimator = line::estimator(scratch.path(), 5);
  estimator.train(line::all_rows, {.max_steps = 10});
  const std::string data = scratch / "model.ckpt-10.data-00000-of-00001";
  std::string bytes = read_file(real_file_system(), data);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  write_file_atomically(real_file_system(), data, bytes);
  const LoggedLines log;
  estimator.train(line::all_rows, {.max_steps = 10});
  CHECK_FALSE(log.has("Skipping training"));
  const ScratchDirectory other;
  line::estimator(other.path()).train(line::all_rows, {.max_steps = 10});
  CHECK(load_variable(scratch.path(), "w") == load_variable(other.path(), "w"));
}

TEST_CASE("a new model starts warm, and one with a checkpoint does not") {
  const ScratchDirectory old, scratch;
  line::estimator(old.path()).train(line::all_rows, {.max_steps = 30});
  const EstimatorOptions options{
      .config = line::config(scratch.path()),
      .warm_start_from = WarmStart{.checkpoint = old.path(), .assignment = {{"w", "w"}}}};
  Estimator estimator(line::model, options);
  estimator.train(line::all_rows, {.steps = 1});
  CHECK(load_variable(scratch / "model.ckpt-0", "w") == load_variable(old.path(), "w"));
  CHECK(load_variable(scratch / "model.ckpt-0", "b") == Tensor::scalar(0.0f));
  const Tensor after = estimator.get_variable_value("b");
  estimator.train(line::all_rows, {.steps = 1});
  CHECK(load_variable(scratch / "model.ckpt-1", "b") == after);
}

TEST_CASE("an Estimator tells what is in its directory") {
  const ScratchDirectory scratch;
  Estimator estimator = line::estimator(scratch.path());
  CHECK(estimator.latest_checkpoint().empty());
  CHECK(estimator.trained_steps() == 0);
  CHECK_THROWS_AS(estimator.get_variable_value("w"), NotFound);
  estimator.train(line::all_rows, {.max_steps = 2});
  CHECK(estimator.get_variable_names() == std::vector<std::string>{"b", "global_step", "w"});
  CHECK(estimator.get_variable_value("global_step") == Tensor::scalar(std::int64_t{2}));
  CHECK(estimator.trained_steps() == 2);
  CHECK(estimator.eval_dir() == scratch / "eval");
  CHECK(estimator.eval_dir("test") == scratch / "eval_test");
}

TEST_CASE("without a model_dir there is a temporary one, and a warning that names it") {
  const LoggedLines log;
  Estimator estimator(line::model);
  CHECK(log.has(estimator.model_dir()));
  CHECK(real_file_system().is_directory(estimator.model_dir()));
  real_file_system().remove_directory(estimator.model_dir());
}

TEST_CASE("a task that is not the chief cannot train yet") {
  const ScratchDirectory scratch;
  Estimator estimator(line::model, {.config = RunConfig({.model_dir = scratch.path(), .task_id = 1})});
  CHECK_THROWS_AS(estimator.train(line::all_rows, {.steps = 1}), Unimplemented);
}
