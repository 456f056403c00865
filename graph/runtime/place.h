// Passes 4 and 8: where each value lies. First whose memory it is: a view, a constant, a feed, a variable, a
// buffer of its own, or the arena; kernels can then be bound. Later, when it is known which steps run side by
// side, places in the arena by lifetime; an output may take the memory of an input that dies with the step.
#pragma once

#include <vector>

#include "graph/runtime/chains.h"
#include "graph/runtime/plan.h"
#include "graph/runtime/work_graph.h"

namespace runnel {

struct FusedRun;

struct Placement {
  std::vector<std::vector<int>> slot_of;  // by work node and output
  std::vector<int> variable_at;           // by WorkGraph variable: its place in the plan's lock order
};

// Fills in slots (but for offsets), constants, feed_slots, own_slots, views and variables' slots of `plan`.
Placement make_slots(const WorkGraph& work, Plan& plan);
// Fills in offsets and arena_bytes. Chains of a group share no memory while the group runs, but what they
// read; steps of a fused run share none either, but that an output may take over the memory of an input.
void place_arena(const WorkGraph& work, Plan& plan, const Placement& placement,
                 const std::vector<Group>& groups, const std::vector<FusedRun>& runs);

}  // namespace runnel
