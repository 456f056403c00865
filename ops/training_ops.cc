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

// The two forms of each op: on ref variables, which it hands on, and on handles.
enum class Form { kRef, kResource };

// The spec of an update in one form. `variables` are its first inputs, `others` the rest; `shape` checks them
// all and gives the variables' shape.
OpSpec update(const char* name, Form form, const std::vector<std::string>& variables,
              const std::vector<ArgSpec>& others, std::vector<AttrSpec> attrs,
              Shape (*shape)(const ShapeContext&)) {
  const bool is_ref = form == Form::kRef;
  OpSpec spec{.name = name,
              .attrs = std::move(attrs),
              .shape =
                  [is_ref, shape](const ShapeContext& c) {
                    const Shape updated = shape(c);
                    return is_ref ? Shapes(updated) : Shapes();
                  },
              .gradient = Gradient::none("writes a variable"),
              .traits = {.stateful = !is_ref}};
  for (const std::string& variable : variables) {
    spec.inputs.emplace_back(cat(variable, is_ref ? ": Ref(T)" : ": resource").c_str());
    spec.traits.variables.push_back({variable, Access::kUpdates});
  }
  spec.inputs.insert(spec.inputs.end(), others.begin(), others.end());
  if (is_ref) spec.outputs.emplace_back("out: Ref(T)");
  return spec;
}

// The shape that the variables (the first kVariables inputs) and the gradient share; everything else is a
// scalar.
template <int kVariables>
Shape updated_shape(const ShapeContext& c) {
  const int grad = c.position(kVariables == 1 ? "delta" : "grad");
  Shape shape = c.input(grad);
  for (int i = 0; i < kVariables; ++i) {
    const Shape held = c.variable_shape(i);
    if (!shape.compatible_with(held)) c.refuse("shapes differ");
    shape = shape.merged_with(held);
  }
  for (int i = kVariables; i < c.inputs(); ++i)
    if (i != grad && c.input(i).has_rank() && c.input(i).rank() != 0)
      c.refuse(std::string(c.node().spec().inputs[static_cast<std::size_t>(i)].name) + " is no scalar");
  return shape;
}

OpSpec gradient_descent(const char* name, Form form) {
  return update(name, form, {"var"}, {"alpha: T", "delta: T"}, {kNumberT, kLocking}, updated_shape<1>);
}
const OpRegistration kApplyGradientDescent{gradient_descent("ApplyGradientDescent", Form::kRef)};
const OpRegistration kResourceApplyGradientDescent{
    gradient_descent("ResourceApplyGradientDescent", Form::kResource)};

OpSpec momentum(const char* name, Form form) {
  return update(name, form, {"var", "accum"}, {"lr: T", "grad: T", "momentum: T"},
                {kNumberT, kLocking, kNesterov}, updated_shape<2>);
}
const OpRegistration kApplyMomentum{momentum("ApplyMomentum", Form::kRef)};
const OpRegistration kResourceApplyMomentum{momentum("ResourceApplyMomentum", Form::kResource)};

// The shape of var and accum, some of whose rows grad holds.
Shape shape_of_rows(const ShapeContext& c) {
  Shape held = c.variable_shape(c.position("var"));
  const Shape accum = c.variable_shape(c.position("accum"));
  if (!held.compatible_with(accum)) c.refuse("shapes differ");
  held = held.merged_with(accum);
  if (held.rank() == 0) c.refuse("a scalar has no rows");
  const Shape indices = c.input("indices", Rank{1});
  Shape grad = c.input("grad");
  if (grad.rank() == 0) c.refuse("grad has no rows");
  if (grad.has_rank()) {
    c.require_equal(grad[0], indices[0], "numbers of rows");
    grad.set(0, kUnknown);
    if (!held.compatible_with(grad)) c.refuse("the rows of grad are not those of var");
  }
  (void)c.input("lr", Rank{0});
  (void)c.input("momentum", Rank{0});
  return held;
}

OpSpec sparse_momentum(const char* name, Form form) {
  return update(name, form, {"var", "accum"}, {"lr: T", "grad: T", "indices: Tindices", "momentum: T"},
                {kNumberT, "Tindices: {int32, int64}", kLocking, kNesterov}, shape_of_rows);
}
const OpRegistration kSparseApplyMomentum{sparse_momentum("SparseApplyMomentum", Form::kRef)};
const OpRegistration kResourceSparseApplyMomentum{
    sparse_momentum("ResourceSparseApplyMomentum", Form::kResource)};

OpSpec adam(const char* name, Form form) {
  return update(
      name, form, {"var", "m", "v"},
      {"beta1_power: T", "beta2_power: T", "lr: T", "beta1: T", "beta2: T", "epsilon: T", "grad: T"},
      {kNumberT, kLocking, kNesterov}, updated_shape<3>);
}
const OpRegistration kApplyAdam{adam("ApplyAdam", Form::kRef)};
const OpRegistration kResourceApplyAdam{adam("ResourceApplyAdam", Form::kResource)};

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

Operation sparse_apply_momentum(const Variable& variable, const Variable& accum, Output lr, Output grad,
                                Output indices, Output momentum, ApplyMomentumOptions o) {
  return apply("SparseApplyMomentum", {variable, accum}, {lr, grad, indices, momentum},
               {{"use_nesterov", o.use_nesterov}}, o.name, o.where);
}

Operation apply_adam(const Variable& variable, const Variable& m, const Variable& v, const AdamScalars& s,
                     Output grad, ApplyAdamOptions o) {
  return apply("ApplyAdam", {variable, m, v},
               {s.beta1_power, s.beta2_power, s.lr, s.beta1, s.beta2, s.epsilon, grad},
               {{"use_nesterov", o.use_nesterov}}, o.name, o.where);
}

}  // namespace runnel
