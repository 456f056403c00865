// Plans as text, for describe() and the log.
#pragma once

#include <string>

#include "graph/runtime/place.h"
#include "graph/runtime/plan.h"
#include "graph/runtime/work_graph.h"

namespace runnel {

// "Mul 'mul': float w, float[100] constant -> float[100] @0": what node `i` computes, from where, to where.
std::string step_text(const WorkGraph& work, const Plan& plan, const Placement& placement, int i);

}  // namespace runnel
