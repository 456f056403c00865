// What the arguments of a training session mean: which services run, and what they leave behind.
#include "train/monitored/monitored_training_session.h"

#include <doctest/doctest.h>

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "graph/error.h"
#include "graph/io/memory_file_system.h"
#include "graph/log.h"
#include "ops/ops.h"
#include "summary/summary.h"
#include "tests/graph/scratch_directory.h"
#include "tests/train/monitored/probe_hook.h"
#include "train/monitored/nan_tensor_hook.h"
#include "train/monitored/stop_at_step_hook.h"
#include "train/supervisor/coordinator.h"

namespace runnel {
namespace {

using Lines = std::vector<std::string>;

struct Training {
  Training() {
    step = get_or_create_global_step(g);
    summary::scalar("step", cast<float>(step));
    up = Operation(assign_add(step, std::int64_t{1}).node());
  }
  // Runs `steps` steps with these options and returns the reason.
  StopReason run(MonitoredTrainingSessionOptions options, std::int64_t last_step) {
    options.hooks.push_back(stop_at_step(last_step));
    options.config.file_system = &files;
    return monitored_training(g, std::move(options), [&](MonitoredSession& session) {
      while (!session.should_stop()) session.run(up);
    });
  }
  bool wrote(const std::string& name) { return holds(files, name) || holds(real_file_system(), name); }
  bool holds(FileSystem& in, const std::string& name) const {
    if (!in.exists(folder.path())) return false;
    for (const std::string& file : in.list(folder.path()))
      if (file.rfind(name, 0) == 0) return true;
    return false;
  }
  bool said(const std::string& part) const { return log.find(part) != std::string::npos; }

  std::string log;
  ScopedLogSink sink{[this](LogLevel, const std::string& line) { log += line + "\n"; }};
  ScratchDirectory folder;  // of events; checkpoints of the same name are in memory
  MemoryFileSystem files;
  Graph g;
  Variable step;
  Operation up;
};

TEST_CASE("a chief's hooks are called in TensorFlow's order: its own, the services, the user's") {
  Training t;
  Lines lines;
  const auto chief = std::make_shared<Probe>("chief", &lines), mine = std::make_shared<Probe>("mine", &lines);
  chief->created = [&](Session&, Coordinator&) { CHECK_FALSE(t.wrote("model.ckpt-0")); };
  mine->created = [&](Session&, Coordinator&) { CHECK(t.wrote("model.ckpt-0")); };
  t.run({.checkpoint_dir = t.folder.path(), .hooks = {mine}, .chief_only_hooks = {chief}}, 1);
  CHECK(lines == Lines{"chief begin", "mine begin", "chief created", "mine created", "chief before",
                       "mine before", "chief after", "mine after", "chief end", "mine end"});
}

TEST_CASE("without a directory no service runs, and no global step is needed") {
  ScopedLogSink quiet([](LogLevel, const std::string&) {});
  Graph g;
  const Output a = constant(g, Tensor::scalar(1.0f));
  const StopReason why = monitored_training(g, {}, [&](MonitoredSession& session) { session.run(a); });
  CHECK(why.cause == StopCause::kRequested);
}

TEST_CASE("by default there are checkpoints by seconds, summaries and the rate by steps") {
  Training t;
  const StopReason why = t.run({.checkpoint_dir = t.folder.path()}, 3);
  CHECK(why.cause == StopCause::kStepsReached);
  CHECK(t.wrote("model.ckpt-0.index"));
  CHECK(t.wrote("model.ckpt-3.index"));
  CHECK(t.wrote("graph.pbtxt"));
  CHECK(t.wrote("events.out.tfevents."));
}

TEST_CASE("each service is switched off by none or 0 for both of its periods") {
  Training t;
  t.run({.checkpoint_dir = t.folder.path(),
         .save_checkpoint_secs = none,
         .save_summaries_steps = none,
         .log_step_count_steps = none,
         .save_checkpoint_steps = 0},
        2);
  CHECK_FALSE(t.wrote(""));
}

TEST_CASE("periods that cannot be are refused, not taken for none: nothing would be saved") {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<MonitoredTrainingSessionOptions> wrong = {
      {.save_checkpoint_secs = kNan},  {.save_checkpoint_secs = -1.0},   {.save_summaries_secs = kNan},
      {.save_checkpoint_steps = -100}, {.save_summaries_steps = -1},     {.log_step_count_steps = -1},
      {.stop_grace_period_secs = -1},  {.stop_grace_period_secs = kNan},
  };
  for (std::size_t i = 0; i < wrong.size(); ++i) {
    CAPTURE(i);
    const ScratchDirectory dir;
    Training t;
    MonitoredTrainingSessionOptions options = wrong[i];
    options.checkpoint_dir = dir.path();
    CHECK_THROWS_AS(MonitoredTrainingSession(t.g, options), InvalidArgument);
  }
}

TEST_CASE("one period of a pair that is given switches the other's default off") {
  Training t;
  t.run({.checkpoint_dir = t.folder.path(), .save_checkpoint_steps = 2}, 5);
  for (const char* name : {"model.ckpt-0", "model.ckpt-2", "model.ckpt-4", "model.ckpt-5"}) {
    CAPTURE(name);
    CHECK(t.wrote(std::string(name) + ".index"));
  }
  CHECK_FALSE(t.wrote("model.ckpt-3."));
}

TEST_CASE("summaries go to their own directory if it is given") {
  Training t;
  ScratchDirectory logs;
  t.run({.checkpoint_dir = t.folder.path(), .save_checkpoint_secs = 0, .summary_dir = logs.path()}, 2);
  CHECK_FALSE(t.wrote("events"));
  CHECK(real_file_system().list(logs.path()).size() == 1);
}

TEST_CASE("a second training in a directory goes on where the first one ended") {
  Training t;
  t.run({.checkpoint_dir = t.folder.path()}, 3);
  const auto probe = std::make_shared<Probe>();
  std::int64_t start = -1;
  probe->created = [&](Session& session, Coordinator&) { start = session.get<std::int64_t>(t.step); };
  t.run({.checkpoint_dir = t.folder.path(), .hooks = {probe}}, 5);
  CHECK(start == 3);
  CHECK(t.wrote("model.ckpt-5.index"));
}

TEST_CASE("after a restore the variables that no checkpoint holds are initialised, and logged") {
  Training t;
  const Variable kept = variable(t.g, 1.0f, "kept"), other = variable(t.g, 2.0f, "other");
  Saver saver(t.g, {kept, t.step});
  const Operation move = group({Operation(assign(kept, 5.0f).node()), Operation(assign(other, 9.0f).node())});
  MonitoredTrainingSessionOptions options{.checkpoint_dir = t.folder.path(),
                                          .scaffold = Scaffold({.saver = &saver}),
                                          .config = {.file_system = &t.files}};
  monitored_training(t.g, options, [&](MonitoredSession& session) { session.run({t.up, move}); });
  monitored_training(t.g, options, [&](MonitoredSession& session) {
    CHECK(session.raw_session().get<float>(kept) == 5);
    CHECK(session.raw_session().get<float>(other) == 2);
  });
  CHECK(t.said("other"));
}

TEST_CASE("who is not chief saves and logs nothing, and waits for the model") {
  Training t;
  const auto chief = std::make_shared<Probe>("chief");
  MonitoredTrainingSessionOptions options{
      .is_chief = false, .checkpoint_dir = t.folder.path(), .chief_only_hooks = {chief}, .max_wait_secs = 1};
  CHECK_THROWS_AS(MonitoredTrainingSession(t.g, options), DeadlineExceeded);
  CHECK(real_file_system().list(t.folder.path()).empty());
  CHECK_FALSE(t.g.finalized());
}

// --- five programs that end for five reasons (C2); the one that a signal ends is in stop_test.cc

TEST_CASE("each way to end has a reason of its own, and an exit code of 0 only if it is meant") {
  std::vector<StopReason> reasons;
  {
    Training t;
    reasons.push_back(t.run({}, 2));
  }
  {
    Training t;
    const Output limited = count_up_to(t.step, 3);
    reasons.push_back(monitored_training(t.g, {}, [&](MonitoredSession& session) {
      while (!session.should_stop()) session.run(limited);
    }));
  }
  {
    Training t;
    const Output loss = log(cast<float>(t.step) - 1.0f);
    reasons.push_back(monitored_training(t.g, {.hooks = {nan_tensor(loss, {.fail_on_nan_loss = false})}},
                                         [&](MonitoredSession& session) {
                                           while (!session.should_stop()) session.run(t.up);
                                         }));
  }
  {
    Training t;
    MonitoredTrainingSession session(t.g);
    CHECK_THROWS_AS(session.close_after([](MonitoredSession&) { throw Internal("a bug"); }), Internal);
    reasons.push_back(session.stop_reason());
  }
  std::vector<StopCause> causes;
  for (const StopReason& reason : reasons) causes.push_back(reason.cause);
  CHECK(causes == std::vector{StopCause::kStepsReached, StopCause::kInputExhausted, StopCause::kHook,
                              StopCause::kError});
  for (const StopReason& reason : reasons) CHECK((reason.exit_code() == 0) == reason.normal());
  CHECK(reasons[0].text == "StopAtStepHook: global step 2 is reached");
  CHECK(reasons[1].text.find("CountUpTo") != std::string::npos);
  CHECK(reasons[2].text.find("NanTensorHook") == 0);
  CHECK(reasons[3].exit_code() == 1);
}

}  // namespace
}  // namespace runnel
