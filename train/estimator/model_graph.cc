// See model_graph.h.
#include "train/estimator/model_graph.h"

#include "graph/error.h"
#include "ops/global_step.h"

namespace runnel {

ModelGraph::ModelGraph(const ModelFunction& model_fn, const InputFunction& input_fn, ModeKeys mode,
                       const Params& params, const RunConfig& config)
    : graph({.seed = config.tf_random_seed()}) {
  if (!input_fn) throw InvalidArgument("Estimator: input_fn is missing");
  global_step = create_global_step(graph);
  {
    const DeviceScope on_cpu(graph, "/cpu:0");
    input = input_fn(graph);
  }
  if (mode == ModeKeys::kPredict) input.labels = {};
  spec = model_fn({.graph = graph,
                   .features = input.features,
                   .labels = input.labels,
                   .mode = mode,
                   .params = params,
                   .config = config});
  require_complete(spec, mode, graph);
}

std::vector<Hook> joined(std::vector<Hook> first, const std::vector<Hook>& others) {
  first.insert(first.end(), others.begin(), others.end());
  return first;
}

}  // namespace runnel
