// The global step as hooks know it: its value after a run, taken from that run where that is possible. A
// fetch of a ref variable reads at the end of its step, so what comes with the run is the value after the
// update. A resource variable's read is a node of the graph, which no path orders behind the update: its
// value is asked for by a run of its own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/dataflow.h"
#include "train/monitored/hook.h"

namespace runnel {

class GlobalStepReader {
 public:
  GlobalStepReader() = default;
  // Throws FailedPrecondition, naming the hook, if the graph has no global step.
  GlobalStepReader(const Graph& graph, const std::string& hook);

  const Variable& variable() const { return step_; }
  std::int64_t now(Session& session) const;  // by a run of its own
  // What a hook adds in front of its fetches: the step, or nothing.
  std::vector<Fetch> fetches() const;
  std::size_t fetched() const { return in_run_ ? 1 : 0; }  // how many those are
  // The step after the run. Requires: `values` begin with what fetches() asked for.
  std::int64_t after(SessionRunContext& context, const SessionRunValues& values) const;

 private:
  Variable step_;
  bool in_run_ = false;
};

}  // namespace runnel
