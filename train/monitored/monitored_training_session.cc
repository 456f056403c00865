// Which creator and which hooks the arguments mean.
#include "train/monitored/monitored_training_session.h"

#include <memory>
#include <optional>
#include <utility>

#include "train/monitored/checkpoint_saver_hook.h"
#include "train/monitored/session_creators.h"
#include "train/monitored/step_counter_hook.h"
#include "train/monitored/summary_saver_hook.h"

namespace runnel {
namespace {

constexpr double kSaveCheckpointSecs = 600;
constexpr std::int64_t kSaveSummariesSteps = 100, kLogStepCountSteps = 100;

using Options = MonitoredTrainingSessionOptions;

// A period; none if it is none, 0, or left at a default that is none. One that cannot be is refused by its
// hook.
template <class T>
std::optional<T> period(const Setting<T>& setting) {
  return setting.has_value() && setting.value() != 0 ? std::optional<T>(setting.value()) : std::nullopt;
}

// The same with a default that holds if its other half is not given either.
template <class T, class Other>
std::optional<T> period_or(const Setting<T>& setting, const Setting<Other>& other, T otherwise) {
  return setting.is_default() && other.is_default() ? otherwise : period(setting);
}

void add_step_counter(const Options& o, const std::string& directory, std::vector<Hook>& hooks) {
  const std::optional<std::int64_t> steps =
      o.log_step_count_steps.is_default() ? kLogStepCountSteps : period(o.log_step_count_steps);
  if (!steps || directory.empty()) return;
  hooks.push_back(step_counter({.every_n_steps = steps, .output_dir = directory, .clock = o.clock}));
}

void add_summary_saver(const Options& o, const std::string& directory, std::vector<Hook>& hooks) {
  const auto steps = period_or(o.save_summaries_steps, o.save_summaries_secs, kSaveSummariesSteps);
  const auto secs = period(o.save_summaries_secs);
  if ((!steps && !secs) || directory.empty()) return;
  hooks.push_back(summary_saver({.save_steps = steps,
                                 .save_secs = secs,
                                 .output_dir = directory,
                                 .scaffold = o.scaffold,
                                 .clock = o.clock}));
}

void add_checkpoint_saver(const Options& o, std::vector<Hook>& hooks) {
  const auto secs = period_or(o.save_checkpoint_secs, o.save_checkpoint_steps, kSaveCheckpointSecs);
  const auto steps = period(o.save_checkpoint_steps);
  if ((!steps && !secs) || o.checkpoint_dir.empty()) return;
  hooks.push_back(checkpoint_saver(o.checkpoint_dir, {.save_secs = secs,
                                                      .save_steps = steps,
                                                      .scaffold = o.scaffold,
                                                      .save_graph_def = o.save_graph_def,
                                                      .clock = o.clock}));
}

std::vector<Hook> hooks_of(const Options& o) {
  if (!o.is_chief) return o.hooks;
  std::vector<Hook> all = o.chief_only_hooks;
  const std::string& logs = o.summary_dir.empty() ? o.checkpoint_dir : o.summary_dir;
  add_step_counter(o, logs, all);
  add_summary_saver(o, logs, all);
  add_checkpoint_saver(o, all);
  all.insert(all.end(), o.hooks.begin(), o.hooks.end());
  return all;
}

std::shared_ptr<SessionCreator> creator_of(Graph& graph, const Options& o) {
  if (o.is_chief)
    return std::make_shared<ChiefSessionCreator>(
        graph, ChiefSessionCreatorOptions{.scaffold = o.scaffold,
                                          .master = o.master,
                                          .config = o.config,
                                          .checkpoint_dir = o.checkpoint_dir,
                                          .restore = o.restore,
                                          .clock = o.clock});
  return std::make_shared<WorkerSessionCreator>(graph,
                                                WorkerSessionCreatorOptions{.scaffold = o.scaffold,
                                                                            .master = o.master,
                                                                            .config = o.config,
                                                                            .max_wait_secs = o.max_wait_secs,
                                                                            .clock = o.clock});
}

}  // namespace

MonitoredTrainingSession::MonitoredTrainingSession(Graph& graph, MonitoredTrainingSessionOptions options)
    : MonitoredSession(graph, {.session_creator = creator_of(graph, options),
                               .hooks = hooks_of(options),
                               .stop_grace_period_secs = options.stop_grace_period_secs,
                               .handle_signals = options.handle_signals,
                               .clock = options.clock}) {}

StopReason monitored_training(Graph& graph, MonitoredTrainingSessionOptions options,
                              const std::function<void(MonitoredSession&)>& body) {
  MonitoredTrainingSession session(graph, std::move(options));
  return session.close_after(body);
}

}  // namespace runnel
