// Undoes broadcasting in the gradient of a binary op: what was stretched is summed. The nodes and their names
// are TensorFlow's (formats 6.3): with shapes known well enough the axes are Consts, else
// BroadcastGradientArgs finds them while the step runs. Left out: gradients with respect to the shapes
// themselves.
#pragma once

#include <string_view>

#include "graph/node.h"

namespace runnel {

// The gradients `dx` and `dy`, each of the shape that both inputs broadcast to, as gradients of x and y. Adds
// nodes `Shape`, `Shape_1` and, on a side that was or may have been stretched, `Sum` and `Reshape`.
Grads unbroadcast(Output x, Output y, Output dx, Output dy);

// One side of it: `dx`, of the shape of the result z, as gradient of x, which was stretched to it.
Output unbroadcast(Output x, Output z, Output dx);

// True if x, y and the incoming gradient are all known to have one shape, so that nothing was stretched.
bool all_same_shape(Output x, Output y, Output d);

// The shape of `x` as an int32 vector: a Const where it is known, else a Shape node.
Output shape_vector(Output x, std::string_view name = "Shape");

// Zeros like `x`: a Const where its shape is known, else a ZerosLike node; named `zeros_like`.
Output zeros_of(Output x);

}  // namespace runnel
