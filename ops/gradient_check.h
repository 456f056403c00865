// Helpers for tests of ops: run one output, make a tensor of fixed random numbers, and compare the gradients
// that the graph gives with central differences. Meant for small tensors; they make a session a call.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "graph/node.h"
#include "graph/shape.h"
#include "graph/tensor.h"

namespace runnel {

// The value of an output that needs no feed, in a session of its own. Throws what Session::run throws.
Tensor evaluate(Output output);

// Doubles in [-1, 1), the same for the same shape and seed on every machine.
Tensor random(const Shape& shape, std::uint64_t seed = 1);

// The largest gap, over all elements of all inputs, between the derivative that `gradients` gives and the
// central difference (f(x+h) - f(x-h)) / 2h of a fixed weighted sum of f's elements; relative where the
// derivative is over 1. An input for which gradients gives none counts as zero.
//
//   f        builds the function on placeholders of the inputs' shapes; its result is double[...]
//   inputs   double[...] each
//   errors   InvalidArgument if an input or the result is not double; what building and running throw
double gradient_gap(const std::function<Output(const Outputs&)>& f, const std::vector<Tensor>& inputs);

}  // namespace runnel
