// How an estimator runs: where its model lies, how often it saves, logs and summarises, and which task of a
// job this process is. Names and defaults are those of tf.estimator.RunConfig (behaviours 22.1); what needs a
// cluster is left out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "graph/clock.h"
#include "graph/runtime/session.h"
#include "train/setting.h"

namespace runnel {

// TensorFlow's arguments in their order. Of save_checkpoints_steps and _secs one may be given; if none is, it
// is 600 seconds; `none` for one that stands alone switches saving off.
struct RunConfigOptions {
  std::string model_dir = "";
  std::optional<std::int64_t> tf_random_seed = {};
  std::optional<std::int64_t> save_summary_steps = 100;  // none: no summaries
  Setting<std::int64_t> save_checkpoints_steps = {};
  Setting<double> save_checkpoints_secs = {};
  SessionOptions session_config = {};
  std::optional<int> keep_checkpoint_max = 5;  // 0 or none keeps all
  double keep_checkpoint_every_n_hours = 10'000;
  std::optional<std::int64_t> log_step_count_steps = 100;  // none: no rate, no line of loss and step
  double session_creation_timeout_secs = 7200;
  // What TF_CONFIG says in TensorFlow (task_environment.h); another task than the first waits before it
  // trains.
  std::string task_type = "worker";
  std::int64_t task_id = 0;
  std::string master = "";
  std::string evaluation_master = "";
  // What only Runnel has.
  bool handle_signals = true;  // SIGTERM and Ctrl-C save and end the process with 128 + signal
  Clock* clock = nullptr;      // borrowed; none means the machine's
};

// What `replace` may set; an empty member stays.
struct RunConfigChanges {
  std::optional<std::string> model_dir = {};
  std::optional<std::optional<std::int64_t>> tf_random_seed = {};
  std::optional<std::optional<std::int64_t>> save_summary_steps = {};
  Setting<std::int64_t> save_checkpoints_steps = {};
  Setting<double> save_checkpoints_secs = {};
  std::optional<SessionOptions> session_config = {};
  std::optional<std::optional<int>> keep_checkpoint_max = {};
  std::optional<double> keep_checkpoint_every_n_hours = {};
  std::optional<std::optional<std::int64_t>> log_step_count_steps = {};
  std::optional<double> session_creation_timeout_secs = {};
};

// Checked and complete. A value; copies share the clock and the file system of session_config.
class RunConfig {
 public:
  // Throws InvalidArgument naming the member that is out of range, or if saving goes both by steps and by
  // seconds.
  RunConfig(RunConfigOptions options = {});
  // With a cluster's task from the environment variable TF_CONFIG; throws what task_from_environment throws,
  // and InvalidArgument if its model_dir is another one.
  static RunConfig from_environment(RunConfigOptions options = {});

  // A copy with these changed. Giving one of save_checkpoints_steps and _secs takes the other away.
  RunConfig replace(const RunConfigChanges& changes) const;

  const std::string& model_dir() const { return options_.model_dir; }
  std::optional<std::int64_t> tf_random_seed() const { return options_.tf_random_seed; }
  std::optional<std::int64_t> save_summary_steps() const { return options_.save_summary_steps; }
  std::optional<std::int64_t> save_checkpoints_steps() const { return steps_; }
  std::optional<double> save_checkpoints_secs() const { return secs_; }
  const SessionOptions& session_config() const { return options_.session_config; }
  std::optional<int> keep_checkpoint_max() const { return options_.keep_checkpoint_max; }
  double keep_checkpoint_every_n_hours() const { return options_.keep_checkpoint_every_n_hours; }
  std::optional<std::int64_t> log_step_count_steps() const { return options_.log_step_count_steps; }
  double session_creation_timeout_secs() const { return options_.session_creation_timeout_secs; }
  const std::string& master() const { return options_.master; }
  const std::string& evaluation_master() const { return options_.evaluation_master; }
  const std::string& task_type() const { return options_.task_type; }
  std::int64_t task_id() const { return options_.task_id; }
  bool is_chief() const { return options_.task_id == 0; }
  bool handle_signals() const { return options_.handle_signals; }
  Clock& clock() const;
  FileSystem& files() const;

 private:
  RunConfigOptions options_;
  std::optional<std::int64_t> steps_;
  std::optional<double> secs_;
};

}  // namespace runnel
