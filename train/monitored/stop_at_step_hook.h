// Ends training at a step. Source: tf.train.StopAtStepHook (behaviours 15).
#pragma once

#include <cstdint>
#include <optional>

#include "graph/location.h"
#include "train/monitored/global_step_reader.h"
#include "train/monitored/hook.h"

namespace runnel {

// Exactly one of the two.
struct StopAtStepHookOptions {
  std::optional<std::int64_t> num_steps = {};  // from where the first session begins
  std::optional<std::int64_t> last_step = {};
  Location where = Location::here();
};

// Asks for the stop (StopCause::kStepsReached) after the run that reaches the step, and before the first run
// of a session that begins there already.
class StopAtStepHook final : public SessionRunHook {
 public:
  // Throws InvalidArgument for none or both, and for a negative number.
  explicit StopAtStepHook(StopAtStepHookOptions options);

  std::string name() const override { return "StopAtStepHook"; }
  void begin(Graph& graph) override;
  void after_create_session(Session& session, Coordinator& coord) override;
  std::optional<SessionRunArgs> before_run(SessionRunContext& context) override;
  void after_run(SessionRunContext& context, const SessionRunValues& values) override;

 private:
  StopAtStepHookOptions options_;
  GlobalStepReader step_;
};

Hook stop_at_step(std::int64_t last_step, Location where = Location::here());
Hook stop_after_steps(std::int64_t num_steps, Location where = Location::here());

}  // namespace runnel
