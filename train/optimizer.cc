// What all optimizers share: gradients, slots, scopes, the step counter, and words for what is missing.
#include "train/optimizer.h"

#include <algorithm>
#include <optional>

#include "graph/error.h"
#include "graph/log.h"
#include "ops/array_ops.h"
#include "ops/gradients.h"
#include "ops/variables.h"

namespace runnel {
namespace {

DType dtype_of_variable(const Variable& variable) { return base_of(variable.dtype()); }

// "  w: no path", a line for each.
std::string reasons(Output loss, const GradientsOf& gradients) {
  std::string out;
  for (const GradientOf& one : gradients)
    if (!one.gradient) out += cat("\n  ", one.variable.name(), ": ", why_no_gradient(loss, one.variable));
  return out;
}

bool has_any(const GradientsOf& gradients) {
  return std::ranges::any_of(gradients,
                             [](const GradientOf& one) { return static_cast<bool>(one.gradient); });
}

void gate_all(GradientsOf& gradients, Location where) {
  Grads all;
  for (const GradientOf& one : gradients) all.push_back(one.gradient);
  all = tuple(all, {.where = where});
  for (std::size_t i = 0; i < all.size(); ++i) gradients[i].gradient = all[i];
}

}  // namespace

Optimizer::Optimizer(std::string name, Location where) : name_(std::move(name)), where_(where) {
  if (name_.empty()) throw InvalidArgument("an optimizer needs a name that is not empty", where);
}

Operation Optimizer::minimize(Output loss, MinimizeOptions options) {
  const GradientsOf gradients = compute_gradients(loss, {.var_list = options.var_list,
                                                         .gate_gradients = options.gate_gradients,
                                                         .grad_loss = options.grad_loss,
                                                         .where = options.where});
  const std::string missing = reasons(loss, gradients);
  if (!has_any(gradients))
    throw InvalidArgument(cat(name_, ": ", loss.name(), " has no gradient by any variable:", missing),
                          options.where);
  if (!missing.empty())
    log_warning(cat(name_, ": ", loss.name(), " has no gradient by some variables:", missing));
  return apply_gradients(gradients, {options.global_step, options.name, options.where});
}

GradientsOf Optimizer::compute_gradients(Output loss, ComputeGradientsOptions options) {
  Graph& graph = loss.graph();
  const MadeAt at(graph, options.where);
  if (!is_floating(base_of(loss.dtype())))
    throw InvalidArgument(
        cat(name_, ": the loss ", loss.name(), " is ", base_of(loss.dtype()), ", it must be floating"),
        options.where);
  std::vector<Variable> variables = options.var_list;
  if (variables.empty()) variables = graph.variables(keys::kTrainableVariables);
  if (variables.empty())
    throw InvalidArgument(cat(name_, ": the graph has no trainable variables"), options.where);
  std::vector<Source> sources;
  for (const Variable& variable : variables)
    if (is_floating(dtype_of_variable(variable))) sources.emplace_back(variable);
  const Outputs grad_ys = options.grad_loss ? Outputs{options.grad_loss} : Outputs{};
  const Grads found = gradients(
      {loss}, sources,
      {.grad_ys = grad_ys, .gate_gradients = options.gate_gradients == Gate::kOp, .where = options.where});
  GradientsOf out;
  auto next = found.begin();
  for (const Variable& variable : variables)
    out.push_back({is_floating(dtype_of_variable(variable)) ? *next++ : Grad(), variable});
  if (options.gate_gradients == Gate::kGraph) gate_all(out, options.where);
  return out;
}

Operation Optimizer::apply_gradients(const GradientsOf& gradients, ApplyGradientsOptions options) {
  where_ = options.where;
  if (!has_any(gradients))
    throw InvalidArgument(cat(name_, ": none of the ", gradients.size(), " variables given has a gradient"),
                          where_);
  std::vector<Variable> variables;
  for (const GradientOf& one : gradients)
    if (one.gradient) variables.push_back(one.variable);
  Graph& graph = variables.front().graph();
  refuse_imported_slots(variables);
  graphs_.insert(graph.shared());
  const MadeAt at(graph, where_);
  {
    const ControlDependencies outside(graph, ControlDependencies::Clear{});
    create_slots(variables);
  }
  const NameScope scope(graph, options.name.empty() ? name_ : options.name);
  prepare(graph);
  std::vector<Operation> updates;
  for (const GradientOf& one : gradients) {
    if (!one.gradient) continue;
    const NameScope inner(graph, "update_" + one.variable.name());
    const ColocateWith with(one.variable.parts().variable.node());
    const IndexedSlices* rows = one.gradient.slices();
    updates.push_back(rows ? apply_rows(*rows, one.variable)
                           : apply_dense(one.gradient.dense(), one.variable));
  }
  const Operation out = options.global_step
                            ? add_step(options.global_step, finish(graph, updates, "update"), scope.name())
                            : finish(graph, updates, scope.name());
  graph.add_to_collection(keys::kTrainOp, out);
  return out;
}

// Counts the step up once all updates are done.
Operation Optimizer::add_step(const Variable& global_step, Operation updates, const std::string& name) {
  const VariableParts& parts = global_step.parts();
  Graph& graph = global_step.graph();
  const ControlDependencies after(graph, {updates});
  const ColocateWith with(parts.variable.node());
  const char* one_name = parts.is_resource ? "Const" : "value";
  const Output one = Operand(1, where_).in(graph, global_step.dtype(), one_name);
  if (parts.is_resource)
    return graph.add("AssignAddVariableOp", {parts.variable, one}, {{"dtype", global_step.dtype()}}, name,
                     where_);
  return graph.add("AssignAdd", {parts.variable, one}, {}, name, where_);
}

// A graph that was imported brings its optimizer's state; a second set beside it would start from nothing,
// and checkpoints do not have it. Nodes out of a file have no place.
void Optimizer::refuse_imported_slots(const std::vector<Variable>& variables) const {
  for (const Variable& variable : variables) {
    const Node* slot = variable.graph().find(variable.name() + "/" + name_);
    if (!slot || slot->where().known()) continue;
    throw InvalidArgument(
        cat("the graph was imported with the state of an optimizer '", name_, "' already ('", slot->name(),
            "'): run the train op that came with it (collection train_op), or give this optimizer another "
            "name, and its state starts anew"),
        where_);
  }
}

void Optimizer::create_slots(const std::vector<Variable>&) {}

Operation Optimizer::finish(Graph& graph, const std::vector<Operation>& updates, const std::string& name) {
  return group(graph, updates, {.name = name, .where = where_});
}

Variable Optimizer::get_slot(const Variable& variable, std::string_view slot) const {
  const auto at = slots_.find(slot);
  if (at == slots_.end()) return {};
  for (const auto& [primary, made] : at->second)
    if (primary == variable) return made;
  return {};
}

std::vector<std::string> Optimizer::get_slot_names() const {
  std::vector<std::string> out;
  for (const auto& [name, made] : slots_) out.push_back(name);
  return out;
}

std::vector<Variable> Optimizer::variables() const {
  std::vector<Variable> out;
  for (const auto& [name, made] : slots_)
    for (const auto& [primary, slot] : made) out.push_back(slot);
  for (const auto& [name, made] : scalars_) out.insert(out.end(), made.begin(), made.end());
  std::ranges::sort(out, {}, [](const Variable& variable) { return variable.name(); });
  return out;
}

Variable Optimizer::make_slot(const Variable& variable, const std::string& slot, const Initializer& start) {
  if (const Variable made = get_slot(variable, slot)) return made;
  Graph& graph = variable.graph();
  const NameScope root(graph, "");
  const ColocateWith with(variable.parts().variable.node());
  const Variable out =
      runnel::variable(graph, start.of(variable.shape(), variable.dtype()), variable.name() + "/" + name_,
                       {.trainable = false, .use_resource = variable.parts().is_resource, .where = where_});
  slots_[slot].emplace_back(variable, out);
  return out;
}

Variable Optimizer::make_scalar(float start, const std::string& name, const Variable& near) {
  Graph& graph = near.graph();
  if (const Variable made = scalar(graph, name)) return made;
  const ColocateWith with(near.parts().variable.node());
  const Variable out = variable(
      graph, start, name, {.trainable = false, .use_resource = near.parts().is_resource, .where = where_});
  scalars_[name].push_back(out);
  return out;
}

Variable Optimizer::scalar(const Graph& graph, std::string_view name) const {
  const auto at = scalars_.find(name);
  if (at == scalars_.end()) return {};
  for (const Variable& variable : at->second)
    if (variable.graph() == graph) return variable;
  return {};
}

Output as_type(Output scalar, DType type, Location where) {
  if (base_of(scalar.dtype()) == type) return scalar;
  return scalar.graph().add("Cast", {scalar}, {{"DstT", type}}, "", where);
}

}  // namespace runnel
