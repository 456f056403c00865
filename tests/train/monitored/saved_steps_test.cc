// Which steps a monitored training leaves in checkpoints, whatever ends it and however many hooks save.
#include <doctest/doctest.h>

#include <filesystem>
#include <memory>
#include <set>
#include <vector>

#include "tests/graph/scratch_directory.h"
#include "tests/train/monitored/hook_driver.h"
#include "tests/train/supervisor/logged_lines.h"
#include "train/monitored/monitored_training_session.h"
#include "train/train.h"

using namespace runnel;

namespace {

// The number of updates in each checkpoint that the state file names, oldest first; a name that says another
// is an error.
std::vector<std::int64_t> saved_steps(const std::string& directory) {
  std::vector<std::int64_t> steps;
  const auto state = get_checkpoint_state(directory);
  for (const std::string& prefix : state->all_model_checkpoint_paths) {
    steps.push_back(CheckpointReader(prefix).read("twin").scalar<std::int64_t>());
    if (!prefix.ends_with(cat("model.ckpt-", steps.back()))) throw DataLoss(prefix);
  }
  return steps;
}

// So many were written in all, deleted ones too.
int saves(const LoggedLines& log) {
  int count = 0;
  for (const std::string& line : log.all()) count += line.find("Saving checkpoints for") != line.npos;
  return count;
}

StopReason train(Counting& m, MonitoredTrainingSessionOptions options, std::int64_t last_step) {
  options.hooks.push_back(stop_at_step(last_step));
  return monitored_training(m.graph, std::move(options), [&](MonitoredSession& session) {
    while (!session.should_stop()) session.run(m.train);
  });
}

using Steps = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("the last step is in a checkpoint, and saved only once when the period ends with it") {
  for (const Steps& steps : {Steps{0, 8}, Steps{0, 10, 12}, Steps{0, 10}}) {
    const std::int64_t length = steps.back();
    CAPTURE(length);
    const LoggedLines log;
    const ScratchDirectory scratch;
    Counting m;
    train(m, {.checkpoint_dir = scratch.path(), .save_checkpoint_steps = std::int64_t{10}}, length);
    CHECK(saved_steps(scratch.path()) == steps);
    CHECK(saves(log) == static_cast<int>(steps.size()));
  }
}

TEST_CASE("a checkpoint of the name N holds N updates: saves every 100 of 250 steps") {
  for (const bool resource : {false, true}) {
    CAPTURE(resource);
    const LoggedLines log;
    const ScratchDirectory scratch;
    Counting m(resource);
    train(m, {.checkpoint_dir = scratch.path(), .save_checkpoint_steps = std::int64_t{100}}, 250);
    CHECK(saved_steps(scratch.path()) == Steps{0, 100, 200, 250});
  }
}

TEST_CASE(
    "a hook of the user's beside the automatic one shares its saver, its writes and its old checkpoints") {
  const LoggedLines log;
  const ScratchDirectory scratch;
  Counting m;
  train(m,
        {.checkpoint_dir = scratch.path(),
         .hooks = {checkpoint_saver(scratch.path(), {.save_steps = 3})},
         .save_checkpoint_steps = std::int64_t{2}},
        12);
  CHECK(saved_steps(scratch.path()) == Steps{6, 8, 9, 10, 12});
  CHECK(saves(log) == 9);  // 0, 2, 3, 4, 6, 8, 9, 10, 12
  int data_files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(scratch.path()))
    data_files += entry.path().string().find(".data-") != std::string::npos;
  CHECK(data_files == 5);
}

TEST_CASE("a training that is started again at its last step runs no further and saves nothing new") {
  const LoggedLines log;
  const ScratchDirectory scratch;
  for (int i = 0; i < 2; ++i) {
    Counting m;
    const StopReason reason =
        train(m, {.checkpoint_dir = scratch.path(), .save_checkpoint_steps = std::int64_t{100}}, 5);
    CHECK(reason.cause == StopCause::kStepsReached);
    CHECK(saved_steps(scratch.path()) == Steps{0, 5});
  }
}

TEST_CASE("a session that is lost goes on from its checkpoint, and the end is saved once") {
  struct Loses final : SessionRunHook {
    std::string name() const override { return "Loses"; }
    void after_run(SessionRunContext&, const SessionRunValues&) override {
      if (++runs == 7) throw Aborted("a part was lost");
    }
    int runs = 0;
  };
  const LoggedLines log;
  const ScratchDirectory scratch;
  Counting m;
  train(m,
        {.checkpoint_dir = scratch.path(),
         .hooks = {std::make_shared<Loses>()},
         .save_checkpoint_steps = std::int64_t{5}},
        8);
  CHECK(saved_steps(scratch.path()) == Steps{0, 5, 8});
  CHECK(saves(log) == 4);  // 5 twice: where the second session begins
}
