// Cross entropy between labels and the softmax of logits, one number an example.
#pragma once

#include "ops/operand.h"

namespace runnel {

// -log(softmax(logits)[label]) of each row.
//
//   logits   T[..., classes]
//   labels   int32 or int64[...], in [0, classes)
//   returns  T[...]
//   T        float, double
//   errors   InvalidArgument if the ranks do not fit: here when known; for a label out of range: from
//   Session::run grad     logits source   TensorFlow "SparseSoftmaxCrossEntropyWithLogits"
Output sparse_softmax_cross_entropy_with_logits(Output logits, const Operand& labels, OpOptions options = {});

// -sum(labels * log(softmax(logits))) of each row. No gradient flows into labels.
//
//   labels   T[..., classes], each row a distribution: the gradient is right only where rows sum to 1
//   logits   T[..., classes]
//   returns  T[...]
//   T        float, double
//   errors   InvalidArgument if the shapes do not fit: here when known, else from Session::run
//   grad     logits
//   source   TensorFlow "SoftmaxCrossEntropyWithLogits", as tf.nn.softmax_cross_entropy_with_logits
Output softmax_cross_entropy_with_logits(const Operand& labels, Output logits, OpOptions options = {});

// The same, with a gradient into labels too.
//
//   source   TensorFlow's softmax_cross_entropy_with_logits_v2
Output softmax_cross_entropy_with_logits_v2(const Operand& labels, Output logits, OpOptions options = {});

}  // namespace runnel
