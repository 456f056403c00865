// What a streaming metric is: a value that is true of all batches seen so far, and an operation that adds one
// batch. Between them lie local variables under TensorFlow's names, so that checkpoints of them fit
// (behaviours 20.1). The metrics themselves are in mean_metrics.h, count_metrics.h, threshold_metrics.h,
// auc.h and confusion_matrix.h, in the namespace `metrics`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "graph/node.h"
#include "ops/operand.h"

namespace runnel {

// Run `update_op` once a batch and `value` once at the end. The value only reads: run with the update in one
// step it is the one from before the batch, every time, while the update's own value includes it. Both need
// the local variables' initialisation first (initialize_local_variables); running that again starts over.
struct Metric {
  Output value;
  Output update_op;
};

// What all metrics take besides their tensors.
//
// `weights` are a number, a tensor without dimensions, or one of as many dimensions as the values, each as
// large or 1; one dimension of 1 at the end may also be missing or too many. 0 leaves an element out.
struct MetricOptions {
  std::optional<Operand> weights = {};                // none: all are 1
  std::vector<std::string> metrics_collections = {};  // `value` is added to these
  std::vector<std::string> updates_collections = {};  // `update_op` to these
  std::string name = "";                              // of the scope; default: the metric's name
  Location where = Location::here();
};

}  // namespace runnel
