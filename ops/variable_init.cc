// Initialising variables in order of dependency.
#include "ops/variable_init.h"

#include <algorithm>
#include <map>
#include <optional>
#include <variant>

#include "graph/error.h"
#include "ops/array_ops.h"
#include "ops/array_where_ops.h"
#include "ops/initial_value.h"
#include "ops/state_ops.h"

namespace runnel {
namespace {

class Initializers {
 public:
  Initializers(Graph& graph, const std::vector<Variable>& variables, const std::string& scope, Location where)
      : graph_(graph), scope_(scope), where_(where) {
    for (const Variable& variable : variables) listed_.emplace(&node_of(variable), variable);
  }

  // The operation that initialises `variable` after what it depends on.
  Operation of(const Variable& variable);

 private:
  static const Node& node_of(const Variable& variable) { return variable.parts().variable.node(); }
  Operation ordered(const Variable& variable);
  Output read_after(const Variable& variable, Location where);
  [[noreturn]] void refuse_cycle(const Variable& again) const;

  Graph& graph_;
  const std::string& scope_;
  const Location where_;
  std::map<const Node*, Variable> listed_;
  std::map<const Node*, Operation> done_;
  std::vector<Variable> open_;  // being worked at, each because of the one before
};

Operation Initializers::of(const Variable& variable) {
  const auto at = done_.find(&node_of(variable));
  if (at != done_.end()) return at->second;
  if (std::ranges::find(open_, variable) != open_.end()) refuse_cycle(variable);
  open_.push_back(variable);
  bool depends = false;
  for (const Variable& other : bare_variables(variable.parts().initial_value))
    if (listed_.contains(&node_of(other))) {
      of(other);
      depends = true;
    }
  const Operation out = depends ? ordered(variable) : variable.parts().initializer;
  open_.pop_back();
  done_.emplace(&node_of(variable), out);
  return out;
}

// The variable's initializer once more, its value computed from what the listed variables were initialised
// to.
Operation Initializers::ordered(const Variable& variable) {
  const NameScope outer(graph_, scope_);
  const NameScope inner(graph_, variable.name());
  const Output value =
      with_reads_replaced(variable.parts().initial_value, inner.name(),
                          [&](const Variable& other, Location where) { return read_after(other, where); });
  const Node& own = variable.parts().initializer.node();
  return graph_.add(own.op(), {own.input(0), value}, own.attrs(), "Assign", where_);
}

Output Initializers::read_after(const Variable& variable, Location where) {
  const VariableParts& parts = variable.parts();
  if (!listed_.contains(&node_of(variable))) return {};
  const ControlDependencies after(graph_, {of(variable)});
  if (parts.is_resource)
    return graph_.add("ReadVariableOp", {parts.variable}, {{"dtype", variable.dtype()}}, "", where);
  return identity(parts.variable, {.name = "read", .where = where});
}

void Initializers::refuse_cycle(const Variable& again) const {
  std::string path;
  for (auto at = std::ranges::find(open_, again); at != open_.end(); ++at) path += at->name() + " -> ";
  throw InvalidArgument(cat("initial values of variables depend on each other: ", path, again.name(),
                            "; give one of them a value of its own"),
                        node_of(again).where(), again.name());
}

}  // namespace

Operation initialize_variables(Graph& graph, const std::vector<Variable>& variables,
                               InitializeOptions options) {
  const MadeAt at(graph, options.where);
  const ControlDependencies outside(graph, ControlDependencies::Clear{});
  std::string scope;
  {
    const NameScope own(graph, options.name);
    scope = own.name();
  }
  Initializers initializers(graph, variables, scope, options.where);
  std::vector<Operation> all;
  for (const Variable& variable : variables) all.push_back(initializers.of(variable));
  return group(graph, all, {.name = scope, .where = options.where});
}

Operation initialize_global_variables(Graph& graph, InitializeOptions options) {
  return initialize_variables(graph, graph.variables(keys::kGlobalVariables), options);
}

Operation initialize_local_variables(Graph& graph, InitializeOptions options) {
  return initialize_variables(graph, graph.variables(keys::kLocalVariables), options);
}

Operation initialize_tables(Graph& graph, InitializeTablesOptions options) {
  std::vector<Operation> all;
  for (const CollectionItem& item : graph.collection(keys::kTableInitializers)) {
    if (const auto* operation = std::get_if<Operation>(&item)) {
      all.push_back(*operation);
    } else if (const auto* output = std::get_if<Output>(&item)) {
      all.emplace_back(output->node());
    } else {
      throw InvalidArgument(cat("the collection '", keys::kTableInitializers,
                                "' holds something else than operations; a table's initializer is one"),
                            options.where);
    }
  }
  if (all.empty()) return no_op(graph, {.name = options.name, .where = options.where});
  return group(graph, all, {.name = options.name, .where = options.where});
}

Output report_uninitialized_variables(Graph& graph, const std::vector<Variable>& variables,
                                      ReportOptions options) {
  const MadeAt at(graph, options.where);
  const NameScope scope(graph, options.name);
  std::vector<std::string> names;
  Outputs ready;
  for (const Variable& variable : variables) {
    names.push_back(variable.name());
    ready.push_back(is_variable_initialized(variable, {.where = options.where}));
  }
  const DeviceScope device(graph, "/cpu:0");
  if (variables.empty()) return constant(graph, Tensor::vector(names), {.where = options.where});
  const Output missing = graph.add("LogicalNot", {graph.add("Pack", {ready}, {}, "stack", options.where)}, {},
                                   "", options.where);
  const Output all = constant(graph, Tensor::vector(names), {.where = options.where});
  return boolean_mask(all, missing, {.where = options.where});
}

Output report_uninitialized_variables(Graph& graph, ReportOptions options) {
  std::vector<Variable> all = graph.variables(keys::kGlobalVariables);
  for (const Variable& variable : graph.variables(keys::kLocalVariables)) all.push_back(variable);
  return report_uninitialized_variables(graph, all, options);
}

}  // namespace runnel
