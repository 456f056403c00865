// Layers.
#include "ops/layers.h"

#include "graph/dataflow.h"
#include "graph/error.h"
#include "ops/math_ops.h"
#include "ops/nn_ops.h"
#include "ops/variable_scope.h"

namespace runnel {
namespace {

// The first of NAME, NAME_1, ... that no layer has taken.
std::string free_layer_name(const Graph& graph, const std::string& name) {
  const auto taken = [&](const std::string& candidate) {
    return graph.find(variable_prefix(graph) + candidate + "/kernel");
  };
  std::string out = name;
  for (int i = 1; taken(out); ++i) out = cat(name, "_", i);
  return out;
}

}  // namespace

Output dense(Output x, int units, DenseOptions options) {
  const Shape& shape = x.shape();  // [batch, n]
  if (units < 1)
    throw InvalidArgument(cat("dense: units is ", units, ", but must be at least 1"), options.where);
  if (shape.rank() != 2 || shape[1] == kUnknown)
    throw InvalidArgument(cat("dense: x must be a matrix with a known number of columns, but ", x.name(),
                              " is ", base_of(x.dtype()), shape, "; reshape it first"),
                          options.where);
  Graph& graph = x.graph();
  const MadeAt at(graph, options.where);
  const VariableScope scope(graph, options.name.empty() ? free_layer_name(graph, "dense") : options.name,
                            {.where = options.where});
  const auto weights = [&](const char* name, const Shape& of, const Initializer& start) {
    return get_variable(graph, name, of,
                        {.initializer = start,
                         .dtype = base_of(x.dtype()),
                         .trainable = options.trainable,
                         .use_resource = options.use_resource,
                         .where = options.where});
  };
  const Variable kernel = weights("kernel", {shape[1], units}, options.kernel_initializer);
  const Variable bias = options.use_bias ? weights("bias", {units}, options.bias_initializer) : Variable();
  Output out = matmul(x, kernel, {.where = options.where});  // [batch, units]
  if (bias) out = bias_add(out, bias, {.where = options.where});
  return options.activation ? options.activation(out) : out;
}

}  // namespace runnel
