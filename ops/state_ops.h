// Changing the value of a variable, of either kind: a ref variable gets Assign, AssignAdd or AssignSub, a
// resource variable AssignVariableOp and its kin followed by a read. Making variables is in ops/variables.h.
#pragma once

#include <cstdint>
#include <string>

#include "graph/node.h"
#include "ops/operand.h"

namespace runnel {

struct AssignOptions {
  bool validate_shape = true;  // false lets a ref variable take a value of another shape
  std::string name = "";       // default: the op's type
  Location where = Location::here();
};

// Gives `variable` the value `value`.
//
//   variable  T[dims], ref or resource
//   value     T[dims]; a number takes the variable's dtype
//   returns   T[dims], the variable after the write: the ref itself, or a read of the resource
//   T         any
//   errors    InvalidArgument if dtype or shape is not the variable's: here when both are known, else from
//             Session::run
//   grad      none
//   source    TensorFlow "Assign", "AssignVariableOp" with "ReadVariableOp"
Output assign(const Variable& variable, const Operand& value, AssignOptions options = {});

// Adds `value` to `variable`.
//
//   variable  T[dims], ref or resource
//   value     T[dims]; a number takes the variable's dtype
//   returns   T[dims], the variable after the write
//   T         float, double and the integers
//   errors    InvalidArgument as for assign; FailedPrecondition from Session::run if not initialised
//   grad      none
//   source    TensorFlow "AssignAdd", "AssignAddVariableOp"
Output assign_add(const Variable& variable, const Operand& value, OpOptions options = {});

// Subtracts `value` from `variable`; else as assign_add.
//
//   source    TensorFlow "AssignSub", "AssignSubVariableOp"
Output assign_sub(const Variable& variable, const Operand& value, OpOptions options = {});

// Whether `variable` has a value.
//
//   variable  T[dims], ref or resource
//   returns   bool[]
//   T         any
//   errors    none
//   grad      none
//   source    TensorFlow "IsVariableInitialized", "VarIsInitializedOp"
Output is_variable_initialized(const Variable& variable, OpOptions options = {});

// The value of the counter `variable` before this step, which adds one to it.
//
//   variable  T[], ref or resource
//   limit     the value that the counter never passes
//   returns   T[], 0 to limit - 1 for a counter that started at 0
//   T         int32, int64
//   errors    InvalidArgument if the variable is no scalar of these types; OutOfRange from Session::run once
//             the counter is at the limit, and it stays as it is
//   grad      none
//   source    TensorFlow "CountUpTo", "ResourceCountUpTo"
Output count_up_to(const Variable& variable, std::int64_t limit, OpOptions options = {});

}  // namespace runnel
