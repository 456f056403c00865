// Ties the run of a session to a coordinator outside of it: when that one is asked to stop, so is the
// session's, at once and for the same reason, also while a step waits in a queue. So an Experiment that
// trains and evaluates in turn has one place that hears of SIGTERM.
#pragma once

#include <string>

#include "train/monitored/hook.h"
#include "train/supervisor/coordinator.h"

namespace runnel {

class FollowStopHook final : public SessionRunHook {
 public:
  // `outer` is borrowed and outlives the hook.
  explicit FollowStopHook(Coordinator& outer) : outer_(&outer) {}

  std::string name() const override { return "FollowStopHook"; }
  void after_create_session(Session& session, Coordinator& coord) override;
  void end(Session& session) override;

 private:
  Coordinator* outer_;
  OnStop link_;
};

}  // namespace runnel
