// Layers' arithmetic: biases, rectified units, softmax. The losses made of it are in loss_ops.h.
#pragma once

#include <string>

#include "ops/operand.h"

namespace runnel {

struct BiasAddOptions {
  std::string data_format = "NHWC";  // or "NCHW": channels are dimension 1, not the last
  std::string name = "";
  Location where = Location::here();
};

// Adds a number to each channel.
//
//   value    T[..., channels]  (T[n, channels, ...] for NCHW)
//   bias     T[channels]
//   returns  T[value.shape]
//   T        float, double, int32, int64
//   errors   InvalidArgument if a rank is wrong or the channels differ: here when known, else from
//   Session::run grad     both inputs source   TensorFlow "BiasAdd"
Output bias_add(Output value, const Operand& bias, BiasAddOptions options = {});

// Sums a gradient over everything but channels: what BiasAdd's bias gets.
//
//   out_backprop  T[..., channels]  (T[n, channels, ...] for NCHW)
//   returns       T[channels]
//   T             float, double, int32, int64
//   errors        InvalidArgument if the rank is too small
//   grad          out_backprop
//   source        TensorFlow "BiasAddGrad"
Output bias_add_grad(Output out_backprop, BiasAddOptions options = {});

// max(x, 0), element by element; NaN stays NaN.
//
//   features  T[dims]
//   returns   T[dims]
//   T         float, double and the integers
//   errors    none
//   grad      features, 0 where features <= 0
//   source    TensorFlow "Relu"
Output relu(const Operand& features, OpOptions options = {});

// `gradients` where `features` are over 0, else 0.
//
//   gradients, features  T[dims]
//   returns              T[dims]
//   T                    float, double and the integers
//   errors               InvalidArgument if the shapes differ
//   grad                 both inputs
//   source               TensorFlow "ReluGrad"
Output relu_grad(Output gradients, Output features, OpOptions options = {});

// exp(x) / sum of exp(x) along the last dimension; the largest x of a row is taken off first, so nothing
// overflows.
//
//   logits   T[..., classes]
//   returns  T[..., classes]; each row sums to 1
//   T        float, double
//   errors   InvalidArgument for a scalar
//   grad     logits
//   source   TensorFlow "Softmax"
Output softmax(const Operand& logits, OpOptions options = {});

// The logarithm of softmax, exact also where softmax is nearly 0.
//
//   logits   T[..., classes]
//   returns  T[..., classes]
//   T        float, double
//   errors   InvalidArgument for a scalar
//   grad     logits
//   source   TensorFlow "LogSoftmax"
Output log_softmax(const Operand& logits, OpOptions options = {});

}  // namespace runnel
