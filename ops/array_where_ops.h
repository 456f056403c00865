// Finding the places of elements; how many there are is known only when a step runs. Masks are made from it.
#pragma once

#include "graph/node.h"
#include "ops/operand.h"

namespace runnel {

// The places of all elements that are true (not 0), in row-major order.
//
//   condition  T[d0, d1, ...], rank over 0
//   returns    int64[n, rank], a row of indices for each
//   T          bool, and the numbers
//   errors     InvalidArgument if the condition is a scalar: here if known, else from Session::run
//   grad       none
//   source     TensorFlow "Where"
Output where(Operand condition, OpOptions options = {});

// The entries of `tensor` where `mask` is true, in order.
//
//   tensor   T[n, ...]
//   mask     bool[n]
//   returns  T[?, ...]
//   T        any that gather takes
//   errors   InvalidArgument if the mask is no vector of tensor's length: here if known, else from
//   Session::run grad     tensor source   tf.boolean_mask, for masks that are vectors
Output boolean_mask(Output tensor, Output mask, OpOptions options = {});

}  // namespace runnel
