// The counter of training steps: an int64 variable called `global_step`, which optimizers count up and
// checkpoints carry. Source: training_util (behaviours 3, "Global step").
#pragma once

#include "graph/dataflow.h"
#include "graph/node.h"

namespace runnel {

struct GlobalStepOptions {
  bool use_resource = false;
  Location where = Location::here();
};

// Makes the counter, starting at 0, not trainable, at the root. Throws AlreadyExists if the graph has one.
Variable create_global_step(Graph& graph, GlobalStepOptions options = {});

// The graph's counter; an empty Variable if it has none. Throws InvalidArgument if the graph has several, or
// one that is no integer scalar.
Variable get_global_step(const Graph& graph);

// The one that exists, or a new one.
Variable get_or_create_global_step(Graph& graph, GlobalStepOptions options = {});

}  // namespace runnel
