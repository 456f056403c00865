// Random tensors. Numbers come from Philox streams that depend on the graph's seed and the op's (formats 9):
// with both stated they are TensorFlow's bit for bit. Without a seed for the op, it is made from the node's
// name, so that adding a node elsewhere changes no number; without any seed each session starts differently.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "graph/dataflow.h"
#include "ops/operand.h"

namespace runnel {

struct RandomOptions {
  std::optional<std::int64_t> seed = {};
  std::string name = "";  // default: the function's
  Location where = Location::here();
};

// Numbers evenly spread over [low, high).
//
//   shape      int32 or int64[rank], or a known Shape
//   low, high  T[]; numbers take the dtype
//   returns    T[shape]
//   T          float, double, int32, int64
//   errors     InvalidArgument if low >= high for integers, or a dimension is negative: from Session::run
//   grad       none for the shape; of low and high by the arithmetic around the op
//   source     TensorFlow "RandomUniform" with Sub, Mul and AddV2, "RandomUniformInt"
Output random_uniform(Graph& graph, DType type, const Operand& shape, const Operand& low, const Operand& high,
                      RandomOptions options = {});

// Numbers from the normal distribution.
//
//   shape         int32 or int64[rank], or a known Shape
//   mean, stddev  T[]
//   returns       T[shape]
//   T             float, double
//   errors        InvalidArgument if a dimension is negative: from Session::run
//   grad          none for the shape; of mean and stddev by the arithmetic around the op
//   source        TensorFlow "RandomStandardNormal" with Mul and AddV2
Output random_normal(Graph& graph, DType type, const Operand& shape, const Operand& mean,
                     const Operand& stddev, RandomOptions options = {});

// The same, where numbers beyond two standard deviations are drawn again.
//
//   source   TensorFlow "TruncatedNormal" with Mul and AddV2
Output truncated_normal(Graph& graph, DType type, const Operand& shape, const Operand& mean,
                        const Operand& stddev, RandomOptions options = {});

// The rows of `value`, which are along its first dimension, in random order.
//
//   value    T[n, ...]
//   returns  T[n, ...]
//   T        any
//   errors   none
//   grad     unwritten, as in TensorFlow
//   source   TensorFlow "RandomShuffle"
Output random_shuffle(Output value, RandomOptions options = {});

// A known shape as the tensor that these ops take. Throws InvalidArgument if it is not known.
Tensor shape_tensor(const Shape& shape);

template <class T>
Output random_uniform(Graph& graph, const Shape& shape, T low = T(0), T high = T(1),
                      RandomOptions options = {}) {
  return random_uniform(graph, dtype_of<T>(), shape_tensor(shape), Tensor::scalar(low), Tensor::scalar(high),
                        options);
}
template <class T>
Output random_normal(Graph& graph, const Shape& shape, T mean = T(0), T stddev = T(1),
                     RandomOptions options = {}) {
  return random_normal(graph, dtype_of<T>(), shape_tensor(shape), Tensor::scalar(mean),
                       Tensor::scalar(stddev), options);
}
template <class T>
Output truncated_normal(Graph& graph, const Shape& shape, T mean = T(0), T stddev = T(1),
                        RandomOptions options = {}) {
  return truncated_normal(graph, dtype_of<T>(), shape_tensor(shape), Tensor::scalar(mean),
                          Tensor::scalar(stddev), options);
}

}  // namespace runnel
