// Derivatives of graphs: `gradients` walks back from ys to xs and lets each op on the way add the graph of
// its own derivative (OpSpec::gradient). Order of the walk, names and control edges are TensorFlow's
// (formats 6.3, behaviours 4), so that a graph made here has the same nodes. Where gradients of rows
// (IndexedSlices) meet they are joined, and made whole if a dense one is among them. Loops are refused by
// name.
#pragma once

#include <string>
#include <vector>

#include "graph/dataflow.h"
#include "graph/node.h"

namespace runnel {

// What to differentiate by: a tensor, or a variable of either kind.
class Source {
 public:
  Source(Output output) : output_(output) {}
  Source(const Node& node) : output_(node) {}
  Source(const Variable& variable) : output_(variable.parts().variable) {}
  const Output& output() const { return output_; }

 private:
  Output output_;
};

// What `gradients` gives for an x that no y depends on.
enum class Unconnected { kNone, kZero };

struct GradientsOptions {
  Outputs grad_ys = {};  // the gradient of each y; an empty Output, or an empty list, means ones
  std::string name = "gradients";
  bool gate_gradients = false;  // all gradients of one op are there before any is used
  Outputs stop_gradients = {};  // taken as constants
  Unconnected unconnected_gradients = Unconnected::kNone;
  Location where = Location::here();
};

// The derivative of the sum of all ys by each x.
//
//   ys       T[...], floating, complex or integer; complex ones need an entry of grad_ys
//   xs       tensors or variables; results come in their order
//   returns  for each x none, a tensor of its dtype and shape, or IndexedSlices of it
//   errors   InvalidArgument for grad_ys that do not fit; Unimplemented, naming op, node and the way to the
//            loss, where an op on the way has no gradient yet; what a gradient throws, with the forward node
//            and its line
//   grad     itself: gradients of gradients are graphs like any other
//   source   tf.gradients
Grads gradients(const Outputs& ys, const std::vector<Source>& xs, GradientsOptions options = {});

// Why `gradients` gives none for x: "no path", "integer dtype (int32)", "stopped by stop_gradient 'NODE'", or
// "path broken at op ArgMax 'NODE' (not differentiable: REASON)". Of several broken paths the break nearest
// to y is told.
std::string why_no_gradient(Output y, const Source& x);

}  // namespace runnel
