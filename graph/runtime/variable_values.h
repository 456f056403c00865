// Variables of a session read and written whole between two steps, without a graph or a plan: for snapshots
// and restores, which touch many variables at once.
#pragma once

#include <vector>

#include "graph/runtime/engine.h"

namespace runnel {

// Locks of variables, each taken once and in the order in which steps take them, until the end of the scope.
class VariableLocks {
 public:
  // Throws Cancelled if the session is closed meanwhile, DeadlineExceeded after its operation_timeout_in_ms.
  VariableLocks(Engine& engine, std::vector<VariableSlot*> slots, bool exclusive);
  ~VariableLocks() { unlock(); }
  VariableLocks(const VariableLocks&) = delete;
  VariableLocks& operator=(const VariableLocks&) = delete;

 private:
  void unlock();

  Engine& engine_;
  std::vector<VariableSlot*> slots_;
  const bool exclusive_;
  std::size_t locked_ = 0;
};

// A value that a variable is to take.
struct VariableValue {
  const Node* variable = nullptr;
  Tensor value;
};

// Gives all of them their values, of any shape: no step sees some of the values without the others. They
// become the variables' without a copy. Throws FailedPrecondition for a closed session and InvalidArgument
// for another dtype; then no variable has changed.
void set_variables(Engine& engine, const std::vector<VariableValue>& values);

}  // namespace runnel
