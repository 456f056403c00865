// Adam.
#include "train/adam.h"

#include <algorithm>
#include <optional>

#include "ops/array_ops.h"
#include "ops/indexed_slices.h"
#include "ops/training_ops.h"

namespace runnel {
namespace {

constexpr const char* kBeta1Power = "beta1_power";
constexpr const char* kBeta2Power = "beta2_power";

// The value where the reader is made: a resource variable is read there, in no colocation group.
Output value_here(const Variable& variable, Location where) {
  if (!variable.parts().is_resource) return variable.value();
  Graph& graph = variable.graph();
  const ColocateWith nothing(graph, ColocateWith::Nothing{});
  return graph.add("ReadVariableOp", {variable.parts().variable}, {{"dtype", variable.dtype()}}, "", where);
}

}  // namespace

Adam::Adam(Operand learning_rate, AdamOptions options)
    : Optimizer(options.name, options.where),
      learning_rate_(std::move(learning_rate)),
      options_(std::move(options)) {}

void Adam::create_slots(const std::vector<Variable>& variables) {
  // The powers lie beside the first variable by name.
  const Variable& first =
      *std::ranges::min_element(variables, {}, [](const Variable& v) { return v.name(); });
  make_scalar(options_.beta1, kBeta1Power, first);
  make_scalar(options_.beta2, kBeta2Power, first);
  for (const Variable& variable : variables) {
    make_slot(variable, "m", zeros_initializer());
    make_slot(variable, "v", zeros_initializer());
  }
}

void Adam::prepare(Graph& graph) {
  learning_rate_tensor_ = learning_rate_.in(graph, DType::kFloat, "learning_rate");
  const auto scalar = [&](float value, const char* name) {
    return constant(graph, Tensor::scalar(value), {.name = name, .where = where()});
  };
  beta1_tensor_ = scalar(options_.beta1, "beta1");
  beta2_tensor_ = scalar(options_.beta2, "beta2");
  epsilon_tensor_ = scalar(options_.epsilon, "epsilon");
}

Operation Adam::apply_dense(Output gradient, const Variable& variable) {
  Graph& graph = variable.graph();
  const DType type = variable.dtype();
  const auto typed = [&](Output scalar) { return as_type(scalar, type, where()); };
  std::optional<NameScope> scope;  // of the update op, in which it reads resource variables
  std::string name;
  if (variable.parts().is_resource) {
    scope.emplace(graph, "ResourceApplyAdam");
    name = scope->name();
  }
  const Output power1 = typed(value_here(scalar(graph, kBeta1Power), where()));
  const Output power2 = typed(value_here(scalar(graph, kBeta2Power), where()));
  return apply_adam(variable, get_slot(variable, "m"), get_slot(variable, "v"),
                    {.beta1_power = power1,
                     .beta2_power = power2,
                     .lr = typed(learning_rate_tensor_),
                     .beta1 = typed(beta1_tensor_),
                     .beta2 = typed(beta2_tensor_),
                     .epsilon = typed(epsilon_tensor_)},
                    gradient, {.name = name, .where = where()});
}

// Rows without a gradient move on, too, by what m still holds: as with a gradient of 0.
Operation Adam::apply_rows(const IndexedSlices& rows, const Variable& variable) {
  return apply_dense(to_dense(rows, variable.shape(), where()), variable);
}

// The power of the next step, once all variables have used this one's.
Operation Adam::decay(const Variable& power, Output beta) {
  const VariableParts& parts = power.parts();
  Graph& graph = power.graph();
  const Output next = graph.add("Mul", {value_here(power, where()), beta}, {}, "mul", where());
  if (parts.is_resource) {
    const Operation write =
        graph.add("AssignVariableOp", {parts.variable, next}, {{"dtype", power.dtype()}}, "", where());
    const ControlDependencies after(graph, {write});  // TensorFlow's assign reads what it wrote
    graph.add("ReadVariableOp", {parts.variable}, {{"dtype", power.dtype()}}, "", where());
    return write;
  }
  return graph.add("Assign", {parts.variable, next}, {{"use_locking", false}}, "", where());
}

Operation Adam::finish(Graph& graph, const std::vector<Operation>& updates, const std::string& name) {
  std::vector<Operation> all = updates;
  {
    const ControlDependencies after(graph, updates);
    const Variable power1 = scalar(graph, kBeta1Power);
    const ColocateWith with(power1.parts().variable.node());
    all.push_back(decay(power1, beta1_tensor_));
    all.push_back(decay(scalar(graph, kBeta2Power), beta2_tensor_));
  }
  return Optimizer::finish(graph, all, name);
}

}  // namespace runnel
