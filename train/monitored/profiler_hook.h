// Records a run now and then: what each kernel took, as a picture for chrome://tracing and beside the graph
// in TensorBoard. Source: tf.train.ProfilerHook (behaviours 15).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "graph/runtime/run_metadata.h"
#include "train/monitored/global_step_reader.h"
#include "train/monitored/hook.h"
#include "train/monitored/second_or_step_timer.h"

namespace runnel {

class FileWriter;

struct ProfilerHookOptions {
  std::optional<std::int64_t> save_steps = {};
  std::optional<double> save_secs = {};
  std::string output_dir = ".";  // of timeline-STEP.json and the events
  // No difference: the picture has the inputs and the memory of each kernel either way.
  bool show_dataflow = true;
  bool show_memory = false;
  Clock* clock = nullptr;  // borrowed; none means the machine's
  Location where = Location::here();
};

// Never records the first run of a session, which makes the plan. Trouble with the files is logged.
class ProfilerHook final : public SessionRunHook {
 public:
  // Throws InvalidArgument for no period.
  explicit ProfilerHook(ProfilerHookOptions options);

  std::string name() const override { return "ProfilerHook"; }
  void begin(Graph& graph) override;
  void after_create_session(Session& session, Coordinator& coord) override;
  std::optional<SessionRunArgs> before_run(SessionRunContext& context) override;
  void after_run(SessionRunContext& context, const SessionRunValues& values) override;

 private:
  void save(Session& session, std::int64_t step, const RunMetadata& metadata);

  ProfilerHookOptions options_;
  SecondOrStepTimer timer_;
  GlobalStepReader step_;
  std::shared_ptr<FileWriter> writer_;
  RunMetadata recording_;                  // of the run that is under way
  std::int64_t start_ = 0;                 // the step with which the session began
  std::optional<std::int64_t> next_step_;  // none before the first run of a session
  bool requested_ = false;                 // in the run that is under way
};

Hook profiler(ProfilerHookOptions options);

}  // namespace runnel
