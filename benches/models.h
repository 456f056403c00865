// The graphs that benchmarks run, built with the public builders, op for op as tf_session.py builds them in
// TensorFlow, so that both do the same work. Data are of the same size and spread; their values do not change
// the time. Left out: anything that a training program would add, as summaries and savers.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace runnel::benches {

// A graph with what runs it. The handles borrow the graph.
struct Model {
  std::unique_ptr<Graph> graph = std::make_unique<Graph>();
  Operation init;
  Operation step;              // what is timed
  Output loss;                 // to see that it trains; empty if it does not
  std::vector<Output> inputs;  // fed in this order
  std::vector<Tensor> feeds;   // their values
};

// y = w x + b through 100 points, mean of squares, gradient descent; points as constants or fed.
Model linear_regression(bool fed);
// Fully connected layers sizes[0] to sizes.back() with relu between, sparse softmax cross entropy, gradient
// descent.
Model mlp(const std::vector<std::int64_t>& sizes, std::int64_t batch);
// A variable plus `length` times one constant scalar, one addition after the other.
Model add_chain(int length);

// The model of a case named as session_bench names it: "mlp/784-128-128-10/32".
Model model_of(const std::string& name);

}  // namespace runnel::benches
