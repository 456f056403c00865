// Holds the first run back until training, by others, has come to a step: workers start one after another.
// Source: tf.train.GlobalStepWaiterHook (behaviours 15).
#pragma once

#include <cstdint>

#include "train/monitored/global_step_reader.h"
#include "train/monitored/hook.h"

namespace runnel {

// Looks every half second, by the coordinator's clock.
class GlobalStepWaiterHook final : public SessionRunHook {
 public:
  explicit GlobalStepWaiterHook(std::int64_t wait_until_step) : wait_until_step_(wait_until_step) {}

  std::string name() const override { return "GlobalStepWaiterHook"; }
  void begin(Graph& graph) override;
  void after_create_session(Session& session, Coordinator& coord) override;
  // Throws Cancelled if the coordinator stops meanwhile.
  std::optional<SessionRunArgs> before_run(SessionRunContext& context) override;

 private:
  void wait(Session& session) const;

  std::int64_t wait_until_step_;
  GlobalStepReader step_;
  Coordinator* coord_ = nullptr;  // of the session that is run; borrowed
  bool waited_ = false;
};

Hook global_step_waiter(std::int64_t wait_until_step);

}  // namespace runnel
