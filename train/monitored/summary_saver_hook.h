// Writes the graph's summaries now and then, taken in the same run as the training step. Source:
// tf.train.SummarySaverHook (behaviours 15).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "train/monitored/global_step_reader.h"
#include "train/monitored/hook.h"
#include "train/monitored/scaffold.h"
#include "train/monitored/second_or_step_timer.h"

namespace runnel {

class FileWriter;

// One period, or both (whichever comes first); one of scaffold and summary_op. Written by `summary_writer`,
// else by the writer of `output_dir` (FileWriterCache); with neither nothing is fetched.
struct SummarySaverHookOptions {
  std::optional<std::int64_t> save_steps = {};
  std::optional<double> save_secs = {};
  std::string output_dir = "";
  std::shared_ptr<FileWriter> summary_writer = nullptr;
  std::optional<Scaffold> scaffold = {};
  std::vector<Output> summary_op = {};  // serialized Summaries
  Clock* clock = nullptr;               // borrowed; none means the machine's
  Location where = Location::here();
};

class SummarySaverHook final : public SessionRunHook {
 public:
  // Throws InvalidArgument for no period, and for none or both of scaffold and summary_op.
  explicit SummarySaverHook(SummarySaverHookOptions options);

  std::string name() const override { return "SummarySaverHook"; }
  void begin(Graph& graph) override;
  void after_create_session(Session& session, Coordinator& coord) override;
  std::optional<SessionRunArgs> before_run(SessionRunContext& context) override;
  void after_run(SessionRunContext& context, const SessionRunValues& values) override;
  void end(Session& session) override;  // flushes

 private:
  std::vector<Output> summaries() const;

  SummarySaverHookOptions options_;
  SecondOrStepTimer timer_;
  GlobalStepReader step_;
  std::shared_ptr<FileWriter> writer_;
  std::optional<std::int64_t> next_step_;  // none before the first run of a session
  bool requested_ = false;                 // in the run that is under way
};

Hook summary_saver(SummarySaverHookOptions options);

}  // namespace runnel
