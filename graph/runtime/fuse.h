// Pass 7: runs of steps that compute element by element become one step, which takes all of them over a tile
// of elements before it goes on to the next. What only the run reads never leaves the tile, and so has no
// memory of its own. The same operations on the same values in the same order: the same bits. Kernels offer
// the form that runs over a part (Bind::elementwise) where there are enough elements for this to matter.
#pragma once

#include <vector>

#include "graph/kernel.h"
#include "graph/runtime/chains.h"
#include "graph/runtime/place.h"
#include "graph/runtime/plan.h"
#include "graph/runtime/work_graph.h"

namespace runnel {

// The steps at these places of the order are one.
struct FusedRun {
  int begin = 0, end = 0;
  BoundKernel kernel;
};

// Finds runs, in order, none of which crosses the border of a chain; gives values that stay in the tile
// Root::kTile. `kernels` is by node.
std::vector<FusedRun> fuse(WorkGraph& work, const std::vector<BoundKernel>& kernels,
                           const std::vector<Group>& groups, const Placement& placement, Plan& plan);

}  // namespace runnel
