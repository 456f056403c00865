// A MonitoredSession as training needs it: restored from and saved to a directory, with summaries and the
// rate of steps logged, on the chief; waiting for the chief on other replicas. Source:
// tf.train.MonitoredTrainingSession (behaviours 14.3).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "graph/clock.h"
#include "graph/dataflow.h"
#include "graph/runtime/session.h"
#include "train/checkpoint/restore_options.h"
#include "train/monitored/hook.h"
#include "train/monitored/monitored_session.h"
#include "train/monitored/scaffold.h"
#include "train/setting.h"
#include "train/supervisor/stop_reason.h"

namespace runnel {

// TensorFlow's arguments, then Runnel's own. Of a pair of periods (checkpoints by seconds and steps,
// summaries likewise) the first default holds if neither is given; if one is given the other is none; both
// together are whichever comes first; none or 0 for both switches the service off.
struct MonitoredTrainingSessionOptions {
  std::string master = "";          // "": in this process; the only one yet
  bool is_chief = true;             // if not: only `hooks`, and the model is waited for
  std::string checkpoint_dir = "";  // restored from and saved to; "": neither
  Scaffold scaffold = {};
  std::vector<Hook> hooks = {};
  std::vector<Hook> chief_only_hooks = {};
  Setting<double> save_checkpoint_secs = {};        // 600
  Setting<std::int64_t> save_summaries_steps = {};  // 100
  Setting<double> save_summaries_secs = {};         // none
  SessionOptions config = {};
  double stop_grace_period_secs = 120;
  Setting<std::int64_t> log_step_count_steps = {};   // 100; none or 0: no rate of steps
  double max_wait_secs = 7200;                       // who is not chief, for the chief
  Setting<std::int64_t> save_checkpoint_steps = {};  // none
  std::string summary_dir = "";                      // of events; "": checkpoint_dir
  bool save_graph_def = true;                        // graph.pbtxt, and a `.meta` beside each checkpoint
  bool handle_signals = true;   // SIGTERM and Ctrl-C: save, close, end the process with 128 + signal
  RestoreOptions restore = {};  // `.partial` goes on from a checkpoint of another graph
  Clock* clock = nullptr;       // for all periods and waiting; borrowed; none means the machine's
};

// Hooks, in this order: chief_only_hooks, StepCounterHook, SummarySaverHook, CheckpointSaverHook, hooks.
// Those three need a global step and are left out without a directory to write to.
class MonitoredTrainingSession final : public MonitoredSession {
 public:
  explicit MonitoredTrainingSession(Graph& graph, MonitoredTrainingSessionOptions options = {});
};

// Makes such a session, calls `body` with it and closes it, as MonitoredSession::close_after. Returns why the
// training stopped: `return monitored_training(...).exit_code();`.
StopReason monitored_training(Graph& graph, MonitoredTrainingSessionOptions options,
                              const std::function<void(MonitoredSession&)>& body);

}  // namespace runnel
