// The operations that a Supervisor works with: those given, those in the graph's collections, or new ones.
#pragma once

#include <memory>
#include <string>

#include "graph/dataflow.h"
#include "train/checkpoint/saver.h"
#include "train/supervisor/supervisor_options.h"

namespace runnel {

// Empty where there is none.
struct SupervisedGraph {
  Output ready_op, ready_for_local_init_op;
  Operation init_op, local_init_op;
  std::shared_ptr<Saver> saver;  // does not own one that was given
  Output summary_op;
  Output global_step;     // its value
  std::string step_name;  // the name of its node, or of the variable that it is
};

// Looks up and adds in TensorFlow's order, so that names are the same. Throws InvalidArgument for an item
// that cannot be what its collection says.
SupervisedGraph supervise(Graph& graph, const SupervisorOptions& options);

// Throws InvalidArgument if a variable has no device: replicas could not share it.
void require_devices(const Graph& graph, Location where);

}  // namespace runnel
