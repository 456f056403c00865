// What the metrics do to their arguments before they count: the rules by which ranks are matched and weights
// spread, TensorFlow's (behaviours 20.1), and the variables that keep the counts. Where shapes are known a
// misfit is refused while the graph is built, else nodes of the graph see to it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "graph/dataflow.h"
#include "graph/node.h"
#include "train/metrics/metric.h"

namespace runnel::metrics {

// The name that a metric's scope gets.
std::string scope_name(const MetricOptions& options, std::string_view metric);

// A local variable of zeros, in `local_variables` and `metric_variables`.
Variable metric_variable(Graph& graph, const Shape& shape, DType type, std::string_view name);

// The weights as a tensor; empty if there are none.
Output weights_of(Graph& graph, const MetricOptions& options);

struct LabelsAndPredictions {
  Output labels, predictions;
};
// Drops the last dimension of the one whose rank is one higher, if that dimension is 1.
//
//   errors  InvalidArgument naming both if their shapes cannot be the same then
LabelsAndPredictions matched(std::string_view metric, Output labels, Output predictions, Location where);

// Drops or adds a last dimension of 1, so that weights have the rank of `values`; scalars stay scalars.
Output weights_of_rank(Output weights, Output values);

// The weights with the shape of `values`. Requires: what weights_of_rank returned.
//
//   errors  InvalidArgument "weights can not be broadcast to values": here if shapes are known, else from
//           Session::run
Output spread_weights(std::string_view metric, Output weights, Output values, Location where);

// The metric with its parts added to the collections.
Metric collected(Metric metric, const MetricOptions& options);

}  // namespace runnel::metrics
