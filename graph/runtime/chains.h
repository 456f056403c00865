// Pass 6: which parts of a step may run side by side. A group is a range of the execution order that falls
// apart into chains without a path from one to another; it is made only where running them on the session's
// threads saves more than waking a thread costs. Late steps, conditionals and steps that park are never in a
// group: they tell each other things outside of the memory that the place pass divides.
#pragma once

#include <vector>

#include "graph/runtime/work_graph.h"

namespace runnel {

// What running a node takes on one thread. Nodes without a step of their own take nothing.
struct NodeCost {
  bool runs = false;
  double nanoseconds = 0;
};

// Chain k of the group is [starts[k], starts[k + 1]) of WorkGraph::order.
struct Group {
  std::vector<int> starts;
};

// Finds groups and rewrites the order so that a group's chains lie one behind the other, the costliest first.
// Groups come in order. `costs` is by node; Requires: threads > 1.
std::vector<Group> find_chains(WorkGraph& work, const std::vector<NodeCost>& costs, int threads);

}  // namespace runnel
