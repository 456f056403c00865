// The steps of a plan that are not kernels: what switches, merges, copies, late bindings and guards do when
// they run.
#pragma once

#include <vector>

#include "graph/kernel.h"
#include "graph/runtime/plan.h"

namespace runnel {

// Copies a value (a variable's, from before a write) to a slot of its own.
BoundKernel copy_step(int from, int to);
// Points a slot whose shape is told late at the memory of another.
BoundKernel alias_step(int from, int to);

struct SwitchPlan {
  int data = -1, predicate = -1;  // slots
  int outputs[2] = {-1, -1};      // slots
  int flags[2] = {-1, -1};        // dead flags of the outputs
  std::vector<int> dead_if;       // flags of what it depends on
  bool late = false;              // the outputs' shape is told late
};
BoundKernel switch_step(SwitchPlan plan);

struct MergePlan {
  struct Input {
    int slot = -1;
    std::vector<int> flags;
  };
  std::vector<Input> inputs;
  int output = -1, index = -1;  // slots
  int flag = -1;                // dead flag of the merge, or -1
};
BoundKernel merge_step(MergePlan plan);

// Runs `inner` unless one of `dead_if` is set; then sets `flag`. Variables listed are checked for a value
// first. May park if `inner` may.
struct GuardPlan {
  std::vector<int> dead_if;
  int flag = -1;
  std::vector<int> variables;  // slots
  const Node* node = nullptr;
  BoundKernel inner;  // may be empty
};
BoundKernel guard_step(GuardPlan plan);

// Infers shapes and binds a kernel while the step runs; keeps the binding of the last few shapes and values.
struct LatePlan {
  const Node* node = nullptr;
  std::vector<int> inputs, outputs;  // slots
  std::vector<DType> output_types;
  std::vector<bool> needs_value;    // by input: listed in bind_values
  std::vector<bool> wanted;         // by output
  std::vector<const Node*> makers;  // by input, as Bind knows them
  bool may_park = false;
  int cache = -1;
  Engine* engine = nullptr;
};
BoundKernel late_step(LatePlan plan);

// Looks whether the step was cancelled or is over its deadline; goes before expensive kernels.
BoundKernel check_step();

}  // namespace runnel
