// Once it has waited it never waits again, whatever a recovered session begins with.
#include "train/monitored/global_step_waiter_hook.h"

#include <memory>

#include "graph/error.h"
#include "graph/log.h"
#include "train/supervisor/coordinator.h"

namespace runnel {

void GlobalStepWaiterHook::begin(Graph& graph) {
  step_ = GlobalStepReader(graph, name());
  waited_ = wait_until_step_ <= 0;
}

void GlobalStepWaiterHook::after_create_session(Session&, Coordinator& coord) { coord_ = &coord; }

std::optional<SessionRunArgs> GlobalStepWaiterHook::before_run(SessionRunContext& context) {
  if (!waited_) wait(context.session());
  waited_ = true;
  return {};
}

void GlobalStepWaiterHook::wait(Session& session) const {
  constexpr double kSecsBetweenLooks = 0.5;
  constexpr std::int64_t kStepsBetweenLines = 1000;
  const std::string line = cat("Waiting for global step ", wait_until_step_, " before starting training.");
  log_info(line);
  std::int64_t told = 0;
  for (std::int64_t step = step_.now(session); step < wait_until_step_; step = step_.now(session)) {
    if (step - told > kStepsBetweenLines) {
      log_info(cat(line, " Current step is ", step, "."));
      told = step;
    }
    if (coord_->wait_for_stop(kSecsBetweenLooks))
      throw Cancelled(cat("GlobalStepWaiterHook waited for global step ", wait_until_step_, ", now ", step,
                          ", when training was asked to stop"));
  }
}

Hook global_step_waiter(std::int64_t wait_until_step) {
  return std::make_shared<GlobalStepWaiterHook>(wait_until_step);
}

}  // namespace runnel
