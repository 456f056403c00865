// What a graph that came out of a SavedModel runs before its values are restored, or with its initialisation:
// the operations of the collection `saved_model_initializers`. Source: tf.train.SessionManager and Scaffold.
#pragma once

#include <vector>

#include "graph/dataflow.h"

namespace runnel {

std::vector<Operation> saved_model_initializers(const Graph& graph);

}  // namespace runnel
