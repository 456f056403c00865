// Pass 4: where each value lies. Values with a known shape share one arena by lifetime; an output may take
// the memory of an input that dies with the step; everything else is a view, a constant, a feed, a variable
// or has a buffer.
#pragma once

#include <vector>

#include "graph/runtime/plan.h"
#include "graph/runtime/work_graph.h"

namespace runnel {

struct Placement {
  std::vector<std::vector<int>> slot_of;  // by work node and output
  std::vector<int> variable_at;           // by WorkGraph variable: its place in the plan's lock order
};

// Fills in slots, constants, feed_slots, own_slots, views, variables' slots and arena_bytes of `plan`.
Placement place(WorkGraph& work, Plan& plan);

}  // namespace runnel
