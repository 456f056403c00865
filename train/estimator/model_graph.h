// A fresh graph with input and model in it, for one call of an Estimator.
#pragma once

#include <string>
#include <vector>

#include "graph/dataflow.h"
#include "train/estimator/model_fn.h"

namespace runnel {

// Made in TensorFlow's order: seed, global step, input, model.
struct ModelGraph {
  // Throws what the functions throw, and require_complete for the spec.
  ModelGraph(const ModelFunction& model_fn, const InputFunction& input_fn, ModeKeys mode,
             const Params& params, const RunConfig& config);

  Scaffold scaffold() const { return spec.scaffold.value_or(Scaffold{}); }

  Graph graph;
  Variable global_step;
  InputBatch input;
  EstimatorSpec spec;
};

// The first hooks, then the others.
std::vector<Hook> joined(std::vector<Hook> first, const std::vector<Hook>& others);

}  // namespace runnel
