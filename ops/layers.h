// Layers: an op with its variables under one name. Source: tf.layers.
#pragma once

#include <functional>
#include <string>

#include "graph/node.h"
#include "ops/initializers.h"

namespace runnel {

struct DenseOptions {
  std::function<Output(Output)> activation = {};  // what is done to the result; nothing if empty
  bool use_bias = true;
  Initializer kernel_initializer = {};  // default: glorot_uniform_initializer
  Initializer bias_initializer = zeros_initializer();
  bool trainable = true;
  bool use_resource = false;
  std::string name = "";  // default: dense, dense_1, ...
  Location where = Location::here();
};

// A fully connected layer, x kernel + bias, with variables NAME/kernel and NAME/bias.
//
//   x        T[batch, n]
//   units    m, over 0
//   returns  T[batch, m]
//   T        float, double
//   errors   InvalidArgument if x is no matrix with n known, or units is under 1; AlreadyExists if a layer
//            has this name already and the open VariableScope does not reuse
//   grad     x, kernel and bias
//   source   tf.layers.dense
Output dense(Output x, int units, DenseOptions options = {});

}  // namespace runnel
