// The counter of training steps.
#include "ops/global_step.h"

#include <vector>

#include "graph/error.h"
#include "ops/initializers.h"
#include "ops/variables.h"

namespace runnel {

Variable create_global_step(Graph& graph, GlobalStepOptions options) {
  if (get_global_step(graph))
    throw AlreadyExists("the graph has a global step already: use get_global_step", options.where);
  const NameScope root(graph, "");
  return variable(graph, zeros_initializer().of({}, DType::kInt64), keys::kGlobalStep,
                  {.trainable = false,
                   .collections = {keys::kGlobalVariables, keys::kGlobalStep},
                   .use_resource = options.use_resource,
                   .where = options.where});
}

Variable get_global_step(const Graph& graph) {
  std::vector<Variable> all = graph.variables(keys::kGlobalStep);
  if (all.size() > 1)
    throw InvalidArgument(cat("the graph has ", all.size(), " global steps, '", all[0].name(), "' and '",
                              all[1].name(), "' among them: keep one in the collection global_step"));
  if (all.empty())
    for (const Variable& variable : graph.variables())
      if (variable.name() == keys::kGlobalStep) all = {variable};
  if (all.empty()) return {};
  const Variable& step = all.front();
  if (!is_integer(step.dtype()))
    throw InvalidArgument(cat("the global step '", step.name(), "' is ", step.dtype(), ", no integer"));
  if (step.shape().has_rank() && step.shape().rank() != 0)
    throw InvalidArgument(
        cat("the global step '", step.name(), "' has shape ", step.shape(), ", it is no scalar"));
  return step;
}

Variable get_or_create_global_step(Graph& graph, GlobalStepOptions options) {
  const Variable step = get_global_step(graph);
  return step ? step : create_global_step(graph, options);
}

}  // namespace runnel
