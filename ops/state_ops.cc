// Specs of the ops that hold, read and write variables, and the builders of writes. The plan reads the
// traits: which node is a variable, and which input of which op touches one, and how.
#include "ops/state_ops.h"

#include <cstdint>
#include <string_view>
#include <utility>

#include "graph/dataflow.h"
#include "graph/op_spec.h"
#include "ops/number_types.h"

namespace runnel {
namespace {

constexpr const char* kDtype = "dtype: type";

Shapes variable_node_shape(const ShapeContext& c) { return c.node().shape("shape"); }
Shapes value_of_variable(const ShapeContext& c) { return c.variable_shape(0); }

// The variable's shape after a write of input 1, which must fit it.
Shapes written_shape(const ShapeContext& c) {
  const Shape held = c.variable_shape(0), value = c.input(1);
  if (!held.compatible_with(value)) c.refuse("the value's shape is not the variable's");
  return held.merged_with(value);
}
// A resource variable may take any value that its handle allows, whatever it holds now.
Shapes assignment_to_resource(const ShapeContext& c) {
  if (!c.ShapeContext::variable_shape(0).compatible_with(c.input(1)))
    c.refuse("the value's shape is not the variable's");
  return {};
}
Shapes write_of_resource(const ShapeContext& c) {
  (void)written_shape(c);
  return {};
}

const OpRegistration kVariableV2{{
    .name = "VariableV2",
    .outputs = {"ref: Ref(dtype)"},
    .attrs = {"shape: shape", kDtype, "container: string = ''", "shared_name: string = ''"},
    .shape = variable_node_shape,
    .gradient = Gradient::none("is where gradients end"),
    .traits = {.role = Role::kVariable, .stateful = true},
}};

const OpRegistration kAssign{{
    .name = "Assign",
    .inputs = {"ref: Ref(T)", "value: T"},
    .outputs = {"output_ref: Ref(T)"},
    .attrs = {"T: type", "validate_shape: bool = true", "use_locking: bool = true"},
    .shape = [](const ShapeContext& c) -> Shapes {
      return c.flag("validate_shape") ? written_shape(c) : c.input(1);
    },
    .gradient = Gradient::none("writes a variable"),
    .traits = {.variables = {{"ref", Access::kOverwrites}}, .allows_uninitialized_input = true},
}};

// An op that changes a ref variable by a value.
OpSpec ref_update(const char* name) {
  return {.name = name,
          .inputs = {"ref: Ref(T)", "value: T"},
          .outputs = {"output_ref: Ref(T)"},
          .attrs = {kNumberT, "use_locking: bool = false"},
          .shape = written_shape,
          .gradient = Gradient::none("writes a variable"),
          .traits = {.variables = {{"ref", Access::kUpdates}}}};
}
const OpRegistration kAssignAdd{ref_update("AssignAdd")};
const OpRegistration kAssignSub{ref_update("AssignSub")};

const OpRegistration kIsVariableInitialized{{
    .name = "IsVariableInitialized",
    .inputs = {"ref: Ref(dtype)"},
    .outputs = {"is_initialized: bool"},
    .attrs = {kDtype},
    .shape = scalar_shape,
    .gradient = Gradient::none("returns bool"),
    .traits = {.variables = {{"ref", Access::kAsks}}, .allows_uninitialized_input = true},
}};

const OpRegistration kVarHandleOp{{
    .name = "VarHandleOp",
    .outputs = {"resource: resource"},
    .attrs = {"container: string = ''", "shared_name: string = ''", kDtype, "shape: shape"},
    .shape = scalar_shape,
    .gradient = Gradient::none("is where gradients end"),
    .traits = {.role = Role::kVariable, .stateful = true},
}};

const OpRegistration kReadVariableOp{{
    .name = "ReadVariableOp",
    .inputs = {"resource: resource"},
    .outputs = {"value: dtype"},
    .attrs = {kDtype},
    .shape = value_of_variable,
    // The value is the variable, so is its gradient.
    .gradient = [](const Node&, Grad d) -> Grads { return {d}; },
    .traits = {.variables = {{"resource", Access::kReads}}, .stateful = true},
}};

// An op that writes a value to a resource variable.
OpSpec resource_write(const char* name, ShapeFunction shape, Access access) {
  return {.name = name,
          .inputs = {"resource: resource", "value: dtype"},
          .attrs = {kDtype},
          .shape = std::move(shape),
          .gradient = Gradient::none("writes a variable"),
          .traits = {.variables = {{"resource", access}}, .stateful = true}};
}
const OpRegistration kAssignVariableOp{
    resource_write("AssignVariableOp", assignment_to_resource, Access::kOverwrites)};
const OpRegistration kAssignAddVariableOp{
    resource_write("AssignAddVariableOp", write_of_resource, Access::kUpdates)};
const OpRegistration kAssignSubVariableOp{
    resource_write("AssignSubVariableOp", write_of_resource, Access::kUpdates)};

const OpRegistration kVarIsInitializedOp{{
    .name = "VarIsInitializedOp",
    .inputs = {"resource: resource"},
    .outputs = {"is_initialized: bool"},
    .shape = scalar_shape,
    .gradient = Gradient::none("returns bool"),
    .traits = {.variables = {{"resource", Access::kAsks}}, .stateful = true},
}};

const char* const kCounterT = "T: {int32, int64}";
Shapes counter_shape(const ShapeContext& c) {
  if (!c.variable_shape(0).compatible_with(Shape{})) c.refuse("the counter is no scalar");
  return Shape{};
}

const OpRegistration kCountUpTo{{
    .name = "CountUpTo",
    .inputs = {"ref: Ref(T)"},
    .outputs = {"output: T"},
    .attrs = {"limit: int", kCounterT},
    .shape = counter_shape,
    .gradient = Gradient::none("writes a variable"),
    .traits = {.variables = {{"ref", Access::kUpdates}}},
}};

const OpRegistration kResourceCountUpTo{{
    .name = "ResourceCountUpTo",
    .inputs = {"resource: resource"},
    .outputs = {"output: T"},
    .attrs = {"limit: int", kCounterT},
    .shape = counter_shape,
    .gradient = Gradient::none("writes a variable"),
    .traits = {.variables = {{"resource", Access::kUpdates}}, .stateful = true},
}};

// TensorFlow's names: a ref variable's operand lies in the scope of the op ("AssignAdd/value"), a resource
// variable's beside it, and the read comes last.
Output write(const Variable& variable, const Operand& value, std::string_view op,
             std::string_view resource_op, std::string_view name, Attrs attrs, Location where) {
  Graph& graph = variable.graph();
  const Output target = variable.parts().variable;
  if (!variable.parts().is_resource) {
    NameScope scope(graph, name.empty() ? op : name);
    const Output operand = value.in(graph, variable.dtype(), "value");
    const ColocateWith with(target.node());
    return graph.add(op, {target, operand}, std::move(attrs), scope.name(), where);
  }
  const Output operand = value.in(graph, variable.dtype(), "Const");
  const Operation done =
      graph.add(resource_op, {target, operand}, {{"dtype", variable.dtype()}}, name, where);
  return graph.add("ReadVariableOp", {target}, std::span(&done, 1), {{"dtype", variable.dtype()}}, "", where);
}

}  // namespace

Output assign(const Variable& variable, const Operand& value, AssignOptions o) {
  return write(variable, value, "Assign", "AssignVariableOp", o.name, {{"validate_shape", o.validate_shape}},
               o.where);
}

Output assign_add(const Variable& variable, const Operand& value, OpOptions o) {
  return write(variable, value, "AssignAdd", "AssignAddVariableOp", o.name, {}, o.where);
}

Output assign_sub(const Variable& variable, const Operand& value, OpOptions o) {
  return write(variable, value, "AssignSub", "AssignSubVariableOp", o.name, {}, o.where);
}

Output is_variable_initialized(const Variable& variable, OpOptions o) {
  const Output& target = variable.parts().variable;
  if (variable.parts().is_resource)
    return variable.graph().add("VarIsInitializedOp", {target}, {}, o.name, o.where);
  const ColocateWith with(target.node());
  return variable.graph().add("IsVariableInitialized", {target}, {}, o.name, o.where);
}

Output count_up_to(const Variable& variable, std::int64_t limit, OpOptions o) {
  const Output& target = variable.parts().variable;
  const Attrs attrs{{"limit", limit}, {"T", variable.dtype()}};
  if (variable.parts().is_resource)
    return variable.graph().add("ResourceCountUpTo", {target}, attrs, o.name, o.where);
  const ColocateWith with(target.node());
  return variable.graph().add("CountUpTo", {target}, attrs, o.name, o.where);
}

}  // namespace runnel
