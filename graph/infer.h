// What can be told of a node before it runs: its output types from its attributes, its shapes from its shape
// function, and the values of inputs that are constants.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "graph/dataflow_state.h"
#include "graph/node.h"
#include "graph/op_spec.h"

namespace runnel {

// Checks attributes against the spec and fills in defaults. Throws InvalidArgument.
void settle_attrs(const OpSpec& spec, Attrs& attrs);

// Types of all outputs, flat. Requires: settle_attrs was called.
std::vector<DType> output_types(const OpSpec& spec, const Attrs& attrs);

// Types that the inputs must have, flat; refs as ref types.
std::vector<DType> input_types(const OpSpec& spec, const Attrs& attrs);

// The node's output shapes as far as they can be told from its inputs'.
std::vector<Shape> infer_shapes(const Node& node);

// The value of an output, if it is known while the graph is built.
std::optional<Tensor> constant_value(const Output& output);

// An integer tensor of rank 1, read as a shape that may be known in part; none if nothing is known.
std::optional<Shape> constant_shape(const Output& output);

// The control inputs that a new node gets from the open scopes and its own (behaviours 2, "Control
// dependencies").
std::vector<Node*> control_inputs_of(const ScopeState& scope, const Outputs& inputs,
                                     std::span<const Operation> own);

}  // namespace runnel
