// A variable of either kind made of its bare nodes, for tests of the ops that variables are made of.
#pragma once

#include <memory>
#include <string>

#include "graph/dataflow.h"
#include "ops/array_ops.h"

namespace runnel {

inline Variable raw_variable(Graph& g, const Tensor& initial, bool resource, const std::string& name,
                             const Shape& shape) {
  const Attrs attrs{{"dtype", initial.dtype()}, {"shape", shape}, {"shared_name", resource ? name : ""}};
  VariableParts parts;
  parts.is_resource = resource;
  parts.initial_value = constant(g, initial, {.name = name + "/initial_value"});
  parts.variable = g.add(resource ? "VarHandleOp" : "VariableV2", {}, attrs, name);
  parts.initializer = g.add(resource ? "AssignVariableOp" : "Assign", {parts.variable, parts.initial_value},
                            {}, name + "/Assign");
  parts.snapshot =
      resource
          ? Output(g.add("ReadVariableOp", {parts.variable}, {{"dtype", initial.dtype()}}, name + "/Read"))
          : Output(g.add("Identity", {parts.variable}, {}, name + "/read"));
  return Variable(std::make_shared<VariableParts>(parts));
}
inline Variable raw_variable(Graph& g, const Tensor& initial, bool resource, const std::string& name = "v") {
  return raw_variable(g, initial, resource, name, initial.shape());
}

}  // namespace runnel
