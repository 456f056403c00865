// Pass 5: binds the nodes of a plan. Which flags tell that a value is dead is settled here too, since guards,
// switches and merges are bound to them.
#pragma once

#include <vector>

#include "graph/kernel.h"
#include "graph/runtime/place.h"
#include "graph/runtime/plan.h"
#include "graph/runtime/work_graph.h"

namespace runnel {

// Borrows all it is given; used once, while a plan is made.
class NodeBinder {
 public:
  NodeBinder(Engine& engine, const WorkGraph& work, Plan& plan, const Placement& placement);

  // By node; empty for one that does nothing in a run. Throws what binders throw, with the node's name.
  std::vector<BoundKernel> bind_all();
  // The flag that is set when this value is dead (of a node without outputs: when the node is), or -1.
  int flag_of(const ValueId& id) const;
  // Adds it, if there is one.
  void add_flag(const ValueId& id, std::vector<int>& flags) const;

 private:
  void number_flags();
  std::vector<int> dead_if(const WorkNode& node) const;
  std::vector<int> guarded_variables(const WorkNode& node) const;
  std::vector<const Node*> makers_of(const WorkNode& node) const;
  BoundKernel guarded(int i);
  BoundKernel inner(int i);
  BoundKernel view_of(int i) const;
  BoundKernel switch_of(int i) const;
  BoundKernel merge_of(int i) const;
  BoundKernel kernel(int i);
  BoundKernel late(int i);
  int slot_of(const ValueId& id) const {
    return placement_.slot_of[static_cast<std::size_t>(id.node)][static_cast<std::size_t>(id.output)];
  }
  DType dtype_of(const ValueId& id) const { return plan_.slots[static_cast<std::size_t>(slot_of(id))].dtype; }

  Engine& engine_;
  const WorkGraph& work_;
  Plan& plan_;
  const Placement& placement_;
  std::vector<int> flag_of_, switch_flags_;  // by node
};

}  // namespace runnel
