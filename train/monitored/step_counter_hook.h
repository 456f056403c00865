// Tells how many steps are done a second, in the log and as a curve `global_step/sec`. Source:
// tf.train.StepCounterHook (behaviours 15).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "train/monitored/global_step_reader.h"
#include "train/monitored/hook.h"
#include "train/monitored/second_or_step_timer.h"

namespace runnel {

class FileWriter;

// Exactly one period. The curve goes to `summary_writer`, else to the writer of `output_dir`
// (FileWriterCache); with neither there is the log alone.
struct StepCounterHookOptions {
  std::optional<std::int64_t> every_n_steps = 100;
  std::optional<double> every_n_secs = {};
  std::string output_dir = "";
  std::shared_ptr<FileWriter> summary_writer = nullptr;
  Clock* clock = nullptr;  // borrowed; none means the machine's
  Location where = Location::here();
};

class StepCounterHook final : public SessionRunHook {
 public:
  // Throws InvalidArgument for no period or two.
  explicit StepCounterHook(StepCounterHookOptions options = {});

  std::string name() const override { return "StepCounterHook"; }
  void begin(Graph& graph) override;
  void after_create_session(Session& session, Coordinator& coord) override;
  std::optional<SessionRunArgs> before_run(SessionRunContext& context) override;
  void after_run(SessionRunContext& context, const SessionRunValues& values) override;

 private:
  void record(const TimerElapsed& elapsed, std::int64_t step);
  void warn_if_it_stands(std::int64_t step);

  StepCounterHookOptions options_;
  SecondOrStepTimer timer_;
  GlobalStepReader step_;
  std::string tag_;
  std::shared_ptr<FileWriter> writer_;
  std::optional<std::int64_t> step_before_;  // after the run before
  int warnings_ = 0;
};

Hook step_counter(StepCounterHookOptions options = {});

}  // namespace runnel
