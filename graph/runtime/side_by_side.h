// The step that runs the chains of a group (chains.h) on the session's threads.
#pragma once

#include <string>
#include <vector>

#include "graph/runtime/plan.h"

namespace runnel {

struct ChainStep {
  Step step;
  StepInfo info;
  int rank = 0;  // its place if the steps ran one after the other
};
struct SideBySide {
  std::vector<std::vector<ChainStep>> chains;
};

// Runs all chains. Of several errors the one is thrown that a single thread would have met first, with its
// node's name; no chain begins a step that would have come after it.
BoundKernel side_by_side_step(SideBySide plan);
// The steps chain by chain, a line each.
std::string side_by_side_text(const SideBySide& plan);

}  // namespace runnel
