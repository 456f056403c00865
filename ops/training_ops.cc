// Specs and builders of the optimizers' update ops. The formulas are in kernels/state/.
#include "ops/training_ops.h"

#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/dataflow.h"
#include "graph/error.h"
#include "graph/op_spec.h"
#include "ops/number_types.h"

namespace runnel {
namespace {

constexpr const char* kLocking = "use_locking: bool = false";
constexpr const char* kNesterov = "use_nesterov: bool = false";

// The shape that the variables (the first `variables` inputs) and the gradient share; everything else is a
// scalar.
Shape updated_shape(const ShapeContext& c, int variables, std::string_view gradient) {
  const int grad = c.position(gradient);
  Shape shape = c.input(grad);
  for (int i = 0; i < variables; ++i) {
    const Shape held = c.variable_shape(i);
    if (!shape.compatible_with(held)) c.refuse("shapes differ");
    shape = shape.merged_with(held);
  }
  for (int i = variables; i < c.inputs(); ++i)
    if (i != grad && c.input(i).has_rank() && c.input(i).rank() != 0)
      c.refuse(std::string(c.node().spec().inputs[static_cast<std::size_t>(i)].name) + " is no scalar");
  return shape;
}

template <int kVariables>
Shapes ref_shape(const ShapeContext& c) {
  return updated_shape(c, kVariables, kVariables == 1 ? "delta" : "grad");
}
template <int kVariables>
Shapes resource_shape(const ShapeContext& c) {
  (void)updated_shape(c, kVariables, kVariables == 1 ? "delta" : "grad");
  return {};
}

const OpRegistration kApplyGradientDescent{{
    .name = "ApplyGradientDescent",
    .inputs = {"var: Ref(T)", "alpha: T", "delta: T"},
    .outputs = {"out: Ref(T)"},
    .attrs = {kNumberT, kLocking},
    .shape = ref_shape<1>,
    .gradient = Gradient::none("writes a variable"),
    .traits = {.variables = {{"var", Access::kUpdates}}},
}};

const OpRegistration kResourceApplyGradientDescent{{
    .name = "ResourceApplyGradientDescent",
    .inputs = {"var: resource", "alpha: T", "delta: T"},
    .attrs = {kNumberT, kLocking},
    .shape = resource_shape<1>,
    .gradient = Gradient::none("writes a variable"),
    .traits = {.variables = {{"var", Access::kUpdates}}, .stateful = true},
}};

const OpRegistration kApplyMomentum{{
    .name = "ApplyMomentum",
    .inputs = {"var: Ref(T)", "accum: Ref(T)", "lr: T", "grad: T", "momentum: T"},
    .outputs = {"out: Ref(T)"},
    .attrs = {kNumberT, kLocking, kNesterov},
    .shape = ref_shape<2>,
    .gradient = Gradient::none("writes a variable"),
    .traits = {.variables = {{"var", Access::kUpdates}, {"accum", Access::kUpdates}}},
}};

const OpRegistration kResourceApplyMomentum{{
    .name = "ResourceApplyMomentum",
    .inputs = {"var: resource", "accum: resource", "lr: T", "grad: T", "momentum: T"},
    .attrs = {kNumberT, kLocking, kNesterov},
    .shape = resource_shape<2>,
    .gradient = Gradient::none("writes a variable"),
    .traits = {.variables = {{"var", Access::kUpdates}, {"accum", Access::kUpdates}}, .stateful = true},
}};

const OpRegistration kApplyAdam{{
    .name = "ApplyAdam",
    .inputs = {"var: Ref(T)", "m: Ref(T)", "v: Ref(T)", "beta1_power: T", "beta2_power: T", "lr: T",
               "beta1: T", "beta2: T", "epsilon: T", "grad: T"},
    .outputs = {"out: Ref(T)"},
    .attrs = {kNumberT, kLocking, kNesterov},
    .shape = ref_shape<3>,
    .gradient = Gradient::none("writes a variable"),
    .traits = {.variables = {{"var", Access::kUpdates}, {"m", Access::kUpdates}, {"v", Access::kUpdates}}},
}};

const OpRegistration kResourceApplyAdam{{
    .name = "ResourceApplyAdam",
    .inputs = {"var: resource", "m: resource", "v: resource", "beta1_power: T", "beta2_power: T", "lr: T",
               "beta1: T", "beta2: T", "epsilon: T", "grad: T"},
    .attrs = {kNumberT, kLocking, kNesterov},
    .shape = resource_shape<3>,
    .gradient = Gradient::none("writes a variable"),
    .traits = {.variables = {{"var", Access::kUpdates}, {"m", Access::kUpdates}, {"v", Access::kUpdates}},
               .stateful = true},
}};

Operation apply(std::string_view op, const std::vector<Variable>& variables, const Outputs& others,
                Attrs attrs, std::string_view name, Location where) {
  std::vector<Argument> inputs;
  for (const Variable& variable : variables) inputs.emplace_back(variable.parts().variable);
  for (const Output& other : others) inputs.emplace_back(other);
  const std::string full = variables[0].parts().is_resource ? cat("Resource", op) : std::string(op);
  return variables[0].graph().add(full, inputs, std::move(attrs), name, where);
}

}  // namespace

Operation apply_gradient_descent(const Variable& variable, Output alpha, Output delta, ApplyOptions o) {
  return apply("ApplyGradientDescent", {variable}, {alpha, delta}, {{"use_locking", o.use_locking}}, o.name,
               o.where);
}

Operation apply_momentum(const Variable& variable, const Variable& accum, Output lr, Output grad,
                         Output momentum, ApplyMomentumOptions o) {
  return apply("ApplyMomentum", {variable, accum}, {lr, grad, momentum}, {{"use_nesterov", o.use_nesterov}},
               o.name, o.where);
}

Operation apply_adam(const Variable& variable, const Variable& m, const Variable& v, const AdamScalars& s,
                     Output grad, ApplyAdamOptions o) {
  return apply("ApplyAdam", {variable, m, v},
               {s.beta1_power, s.beta2_power, s.lr, s.beta1, s.beta2, s.epsilon, grad},
               {{"use_nesterov", o.use_nesterov}}, o.name, o.where);
}

}  // namespace runnel
