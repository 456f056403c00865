// Copying the graph of an initial value with each variable replaced by "its value if it has one, else its
// initial value". The conditional is TensorFlow's: Switch on the question, Merge of the two answers.
#include "ops/initial_value.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "graph/dataflow.h"
#include "graph/error.h"
#include "graph/op_spec.h"
#include "ops/array_ops.h"
#include "ops/state_ops.h"
#include "ops/variables.h"

namespace runnel {
namespace {

bool has_use(const Node& node, Access access) {
  const auto& uses = node.spec().traits.variables;
  return std::ranges::any_of(uses, [&](const VariableUse& use) { return use.access == access; });
}

// The node that an output comes from, aliases skipped.
const Node& origin(Output output) {
  for (int steps = 0; steps < 1000; ++steps) {
    const Node& node = output.node();
    const Role role = node.spec().traits.role;
    if ((role != Role::kAlias && role != Role::kSwitch) || !node.input(0)) break;
    output = node.input(0);
  }
  return output.node();
}

// True for a conditional on whether a variable is initialised: what it lets through needs no guard.
bool is_guard(const Node& node) {
  return node.spec().traits.role == Role::kSwitch && has_use(origin(node.input(1)), Access::kAsks);
}

// Where looking for variables ends: questions, writes and what is guarded already.
bool is_end(const Node& node) {
  return has_use(node, Access::kAsks) || has_use(node, Access::kUpdates) ||
         has_use(node, Access::kOverwrites) || is_guard(node);
}

// What lies between an initial value and the variables it reads.
struct Ancestors {
  std::set<const Node*, bool (*)(const Node*, const Node*)> nodes{
      [](const Node* a, const Node* b) { return a->id() < b->id(); }};
  bool has_loop = false;
};

Ancestors ancestors_of(const Output& value) {
  Ancestors out;
  std::vector<const Node*> stack{&value.node()};
  while (!stack.empty()) {
    const Node* node = stack.back();
    stack.pop_back();
    if (!out.nodes.insert(node).second) continue;
    if (node->spec().traits.role == Role::kNextIteration) out.has_loop = true;
    if (is_end(*node)) continue;
    for (const Output& input : node->input_list())
      if (input) stack.push_back(&input.node());
  }
  return out;
}

std::optional<Variable> variable_of(const Node& node) {
  for (const char* key : {keys::kGlobalVariables, keys::kLocalVariables})
    for (const Variable& variable : node.graph().variables(key))
      if (&variable.parts().variable.node() == &node) return variable;
  return std::nullopt;
}

using Replacements = std::map<std::pair<const Node*, int>, Output>;

// The node again with other inputs, at the root under `name`.
void copy_node(const Node& node, const std::string& name, Replacements& replaced) {
  std::vector<Argument> inputs;
  int at = 0;
  bool ref_lost = false;
  for (const ArgSpec& arg : node.spec().inputs) {
    Outputs list;
    for (int k = node.input_count(arg.name); k > 0; --k, ++at) {
      const Output input = node.input(at);
      const auto other = replaced.find({&input.node(), input.index()});
      list.push_back(other == replaced.end() ? input : other->second);
      ref_lost = ref_lost || (arg.is_ref && !is_ref(list.back().dtype()));
    }
    inputs.push_back(arg.is_list() ? Argument(list) : Argument(list.front()));
  }
  // A conditional on a ref gets a plain value now; no other op can.
  const std::string op = ref_lost && node.op() == "RefSwitch" ? "Switch" : node.op();
  const Node& copy = node.graph().add(op, inputs, node.attrs(), name, node.where());
  for (int i = 0; i < node.outputs(); ++i) replaced[{&node, i}] = copy.output(i);
}

}  // namespace

Output initialized_value(const Variable& variable, Location where) {
  const VariableParts& parts = variable.parts();
  Graph& graph = variable.graph();
  const ControlDependencies outside(graph, ControlDependencies::Clear{});
  // The value that the initializer stores, which is safe itself.
  const Output initial = parts.initializer.node().input(1);
  const Output asked = is_variable_initialized(variable, {.where = where});
  const NameScope scope(graph, "cond");
  const Node& branch = graph.add("Switch", {asked, asked}, {}, "", where);
  identity(branch.output(1), {.name = "switch_t", .where = where});
  identity(branch.output(0), {.name = "switch_f", .where = where});
  const Output pred = identity(asked, {.name = "pred_id", .where = where});
  Output held;
  {
    const std::string read = parts.is_resource ? "ReadVariableOp" : "read";
    const ColocateWith with(parts.variable.node());
    const NameScope inner(graph, read);
    const Node& through =
        graph.add(parts.is_resource ? "Switch" : "RefSwitch", {parts.variable, pred}, {}, "Switch", where);
    const ColocateWith nothing(graph, ColocateWith::Nothing{});
    held = parts.is_resource ? graph.add("ReadVariableOp", {through.output(1)}, {{"dtype", variable.dtype()}},
                                         inner.name(), where)
                             : graph.add("Identity", {through.output(1)}, {}, inner.name(), where);
  }
  Output fresh;
  {
    const ColocateWith with(initial.node());
    fresh = graph.add("Switch", {initial, pred}, {}, "", where);
  }
  return graph.add("Merge", {Outputs{fresh, held}}, {}, "", where);
}

std::vector<Variable> bare_variables(Output value) {
  std::vector<Variable> out;
  for (const Node* node : ancestors_of(value).nodes)
    if (node->spec().traits.role == Role::kVariable)
      if (const std::optional<Variable> variable = variable_of(*node)) out.push_back(*variable);
  return out;
}

Output with_reads_replaced(Output value, const std::string& scope,
                           const std::function<Output(const Variable&, Location)>& read) {
  const Ancestors ancestors = ancestors_of(value);
  if (ancestors.has_loop) return value;
  Replacements replaced;
  for (const Node* node : ancestors.nodes) {  // inputs come before their users
    if (is_end(*node)) continue;
    const bool reads = has_use(*node, Access::kReads);
    if (reads || node->spec().traits.role == Role::kVariable) {
      const std::optional<Variable> variable = variable_of(reads ? origin(node->input(0)) : *node);
      // A resource handle itself cannot be replaced, only reads of it.
      if (!variable || variable->parts().is_resource != reads) continue;
      if (const Output other = read(*variable, node->where())) replaced[{node, 0}] = other;
      continue;
    }
    const bool touched = std::ranges::any_of(node->input_list(), [&](const Output& input) {
      return input && replaced.contains({&input.node(), input.index()});
    });
    if (touched) copy_node(*node, cat(node->name(), "_", scope), replaced);
  }
  const auto at = replaced.find({&value.node(), value.index()});
  return at == replaced.end() ? value : at->second;
}

Output safe_initial_value(Output value, const std::string& scope) {
  return with_reads_replaced(value, scope, initialized_value);
}

}  // namespace runnel
