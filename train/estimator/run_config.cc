// See run_config.h.
#include "train/estimator/run_config.h"

#include <cmath>
#include <utility>

#include "graph/error.h"
#include "graph/io/file_system.h"
#include "train/estimator/task_environment.h"

namespace runnel {
namespace {

constexpr double kDefaultSaveSecs = 600;  // tf.estimator's

template <class T>
void require(bool good, const char* member, const T& value, const char* wanted) {
  if (!good) throw InvalidArgument(cat("RunConfig: ", member, " is ", value, "; it must be ", wanted));
}

void check(const RunConfigOptions& o) {
  if (o.save_checkpoints_steps.has_value() && o.save_checkpoints_secs.has_value())
    throw InvalidArgument(
        "RunConfig: save_checkpoints_steps and save_checkpoints_secs are both given; give one of them");
  if (o.save_checkpoints_steps.has_value())
    require(o.save_checkpoints_steps.value() >= 0, "save_checkpoints_steps", o.save_checkpoints_steps.value(),
            "0 or more");
  if (o.save_checkpoints_secs.has_value())
    require(o.save_checkpoints_secs.value() >= 0, "save_checkpoints_secs", o.save_checkpoints_secs.value(),
            "0 or more");
  if (o.save_summary_steps)
    require(*o.save_summary_steps >= 0, "save_summary_steps", *o.save_summary_steps, "0 or more");
  if (o.keep_checkpoint_max)
    require(*o.keep_checkpoint_max >= 0, "keep_checkpoint_max", *o.keep_checkpoint_max, "0 or more");
  require(o.keep_checkpoint_every_n_hours > 0, "keep_checkpoint_every_n_hours",
          o.keep_checkpoint_every_n_hours, "over 0");
  if (o.log_step_count_steps)
    require(*o.log_step_count_steps > 0, "log_step_count_steps", *o.log_step_count_steps, "over 0");
  require(o.session_creation_timeout_secs > 0, "session_creation_timeout_secs",
          o.session_creation_timeout_secs, "over 0");
  require(o.task_id >= 0, "task_id", o.task_id, "0 or more");
}

template <class T>
void take(T& member, const std::optional<T>& change) {
  if (change) member = *change;
}

}  // namespace

RunConfig::RunConfig(RunConfigOptions options) : options_(std::move(options)) {
  check(options_);
  const auto& by_steps = options_.save_checkpoints_steps;
  const auto& by_secs = options_.save_checkpoints_secs;
  if (by_steps.has_value() && by_steps.value() > 0) steps_ = by_steps.value();
  if (by_secs.has_value() && by_secs.value() > 0) secs_ = by_secs.value();
  if (by_secs.is_default() && by_steps.is_default()) secs_ = kDefaultSaveSecs;
}

RunConfig RunConfig::from_environment(RunConfigOptions options) {
  const TaskEnvironment task = task_from_environment();
  if (!task.model_dir.empty()) {
    if (!options.model_dir.empty() && options.model_dir != task.model_dir)
      throw InvalidArgument(cat("RunConfig: model_dir is '", options.model_dir, "', but TF_CONFIG says '",
                                task.model_dir, "'; leave one of them out"));
    options.model_dir = task.model_dir;
  }
  options.task_type = task.type;
  options.task_id = task.index;
  if (!task.session_master.empty()) options.master = task.session_master;
  if (!task.eval_session_master.empty()) options.evaluation_master = task.eval_session_master;
  return RunConfig(std::move(options));
}

RunConfig RunConfig::replace(const RunConfigChanges& changes) const {
  RunConfigOptions o = options_;
  take(o.model_dir, changes.model_dir);
  take(o.tf_random_seed, changes.tf_random_seed);
  take(o.save_summary_steps, changes.save_summary_steps);
  take(o.session_config, changes.session_config);
  take(o.keep_checkpoint_max, changes.keep_checkpoint_max);
  take(o.keep_checkpoint_every_n_hours, changes.keep_checkpoint_every_n_hours);
  take(o.log_step_count_steps, changes.log_step_count_steps);
  take(o.session_creation_timeout_secs, changes.session_creation_timeout_secs);
  const bool steps_change = !changes.save_checkpoints_steps.is_default();
  const bool secs_change = !changes.save_checkpoints_secs.is_default();
  if (steps_change) {
    o.save_checkpoints_steps = changes.save_checkpoints_steps;
    if (!secs_change) o.save_checkpoints_secs = none;
  }
  if (secs_change) {
    o.save_checkpoints_secs = changes.save_checkpoints_secs;
    if (!steps_change) o.save_checkpoints_steps = none;
  }
  return RunConfig(std::move(o));
}

Clock& RunConfig::clock() const { return options_.clock ? *options_.clock : system_clock(); }

FileSystem& RunConfig::files() const {
  FileSystem* files = options_.session_config.file_system;
  return files ? *files : real_file_system();
}

}  // namespace runnel
