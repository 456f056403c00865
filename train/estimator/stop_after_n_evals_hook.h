// Ends an evaluation after a number of batches, and says how far it is. Source: the hook of this name inside
// of TensorFlow's evaluation (behaviours 22.2).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "graph/node.h"
#include "train/monitored/hook.h"

namespace runnel {

class StopAfterNEvalsHook final : public SessionRunHook {
 public:
  // `evals_completed` counts the batches, this one included; none for `num_evals`: until the input ends.
  StopAfterNEvalsHook(Output evals_completed, std::optional<std::int64_t> num_evals);

  std::string name() const override { return "StopAfterNEvalsHook"; }
  std::optional<SessionRunArgs> before_run(SessionRunContext& context) override;
  void after_run(SessionRunContext& context, const SessionRunValues& values) override;

 private:
  void log_progress(std::int64_t completed) const;

  Output evals_completed_;
  std::optional<std::int64_t> num_evals_;
};

}  // namespace runnel
