// Variable scopes of each thread, and finding variables by name.
#include "ops/variable_scope.h"

#include <optional>
#include <utility>

#include "graph/error.h"
#include "ops/variables.h"

namespace runnel {
namespace {

// The scopes that this thread has open, of all graphs, innermost last.
thread_local std::vector<std::pair<const Graph::State*, const VariableScope*>> open_scopes;

const VariableScope* innermost(const Graph& graph) {
  for (auto at = open_scopes.rbegin(); at != open_scopes.rend(); ++at)
    if (at->first == &graph.state()) return at->second;
  return nullptr;
}

std::optional<Variable> find_variable(const Graph& graph, std::string_view name,
                                      const std::vector<std::string>& keys) {
  for (const std::string& key : keys)
    for (const Variable& variable : graph.variables(key))
      if (variable.name() == name) return variable;
  return std::nullopt;
}

void check_same(const Variable& found, const Shape& shape, const GetVariableOptions& options) {
  if (found.dtype() != options.dtype || !found.shape().compatible_with(shape))
    throw InvalidArgument(cat("variable '", found.name(), "' is asked for as ", options.dtype, shape,
                              ", but it is ", found.dtype(), found.shape()),
                          options.where, found.name());
}

}  // namespace

VariableScope::VariableScope(Graph& graph, std::string_view name, VariableScopeOptions options)
    : outer_(innermost(graph)),
      name_(variable_prefix(graph) + std::string(name)),
      reuse_(options.reuse != Reuse::kInherit ? options.reuse
             : outer_                         ? outer_->reuse()
                                              : Reuse::kNo),
      ops_(graph, name) {
  if (name.empty() || name.ends_with('/'))
    throw InvalidArgument(cat("'", name, "' is no name for a variable scope"), options.where);
  open_scopes.emplace_back(&graph.state(), this);
}

VariableScope::~VariableScope() { open_scopes.pop_back(); }

std::string variable_prefix(const Graph& graph) {
  const VariableScope* scope = innermost(graph);
  return scope ? scope->name() + "/" : "";
}

Variable get_variable(Graph& graph, std::string_view name, const Shape& shape, GetVariableOptions options) {
  const VariableScope* scope = innermost(graph);
  const std::string full = variable_prefix(graph) + std::string(name);
  const Reuse reuse = scope ? scope->reuse() : Reuse::kNo;
  const std::optional<Variable> found = find_variable(graph, full, options.collections);
  if (found && reuse == Reuse::kNo)
    throw AlreadyExists(
        cat("variable '", full, "' exists already; to share it, open its scope with Reuse::kYes or kAuto"),
        options.where, full);
  if (!found && reuse == Reuse::kYes)
    throw NotFound(cat("variable '", full,
                       "' does not exist, and its scope only reuses; to make it, use Reuse::kNo or kAuto"),
                   options.where, full);
  if (found) {
    check_same(*found, shape, options);
    return *found;
  }
  Initializer start = options.initializer;
  if (!start) start = is_floating(options.dtype) ? glorot_uniform_initializer() : zeros_initializer();
  const NameScope root(graph, "");
  return variable(graph, start.of(shape, options.dtype), full,
                  {.trainable = options.trainable,
                   .collections = options.collections,
                   .use_resource = options.use_resource,
                   .where = options.where});
}

}  // namespace runnel
