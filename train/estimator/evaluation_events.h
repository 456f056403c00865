// Writes what an evaluation found where TensorBoard shows it, as tf.estimator does: one event with all
// values at the checkpoint's step, then one with the checkpoint's path.
#pragma once

#include <string>

#include "graph/dataflow.h"
#include "train/estimator/evaluation_result.h"

namespace runnel {

// Scalars are curves; other tensors are stored and shown by no plugin, and texts are left out. Writes into
// the process's one event file of the directory, which has the evaluated graph, too, once. What cannot be
// written is a warning: a log stops no training.
void write_evaluation(const std::string& directory, const EvaluationResult& result, const Graph& graph);

}  // namespace runnel
