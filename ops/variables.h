// Variables: tensors that a session keeps between runs. A variable is a handful of nodes under one name, of
// one of two kinds that TensorFlow has: ref (VariableV2, the default, as in TensorFlow 1) and resource
// (VarHandleOp). Nodes, attributes and collections are TensorFlow's (formats 6.2, behaviours 3), so that
// checkpoints fit. Changing one is in ops/state_ops.h, running initial values in ops/variable_init.h, sharing
// by name in ops/variable_scope.h. Caching devices, constraints and partitioned variables are left out.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "graph/dataflow.h"
#include "graph/node.h"
#include "graph/tensor.h"

namespace runnel {

struct VariableOptions {
  bool trainable = true;  // in `trainable_variables` too, which optimizers take by default
  std::vector<std::string> collections = {keys::kGlobalVariables};
  bool validate_shape = true;  // false: the shape stays unknown, a ref variable may change it
  bool use_resource = false;
  Location where = Location::here();
};

// Makes the initial value inside the scope it is called in.
using InitialValue = std::function<Output(Graph&)>;

// A variable that starts as `initial_value`.
//
//   initial_value  T[dims]; it may depend on other variables: then it is computed from their values where
//                  they have one and from their own initial values where not, so that one run initialises
//                  all, in any order
//   name           made unique in the current scope
//   returns        T[dims]
//   T              any that is not a ref
//   errors         InvalidArgument if the shape is not known in full and must be
//   grad           flows to the variable
//   source         tf.Variable
Variable variable(Output initial_value, std::string_view name = "Variable", VariableOptions options = {});
Variable variable(Graph& graph, const Tensor& initial_value, std::string_view name = "Variable",
                  VariableOptions options = {});
// The same where the initial value's nodes belong to the variable: they lie in NAME/Initializer/ and go where
// it goes.
Variable variable(Graph& graph, const InitialValue& initial_value, std::string_view name = "Variable",
                  VariableOptions options = {});
template <class T>
requires std::is_arithmetic_v<T> Variable variable(Graph& graph, T initial_value,
                                                   std::string_view name = "Variable",
                                                   VariableOptions options = {}) {
  return variable(graph, Tensor::scalar(initial_value), name, std::move(options));
}

// The variable's value if it has one, else its initial value: a conditional in the current scope that never
// throws for an uninitialised variable.
//
//   returns  T[dims]
//   grad     flows to the variable
//   source   Variable.initialized_value
Output initialized_value(const Variable& variable, Location where = Location::here());

}  // namespace runnel
