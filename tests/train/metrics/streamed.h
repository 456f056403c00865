// A metric with its session: adds batches and reads the value, for tests.
#pragma once

#include <utility>
#include <vector>

#include "graph/graph.h"
#include "ops/ops.h"
#include "train/metrics/metric.h"

namespace runnel {

// Batches are fed to placeholders "labels", "predictions" and "weights", of unknown length unless the test
// makes its own.
struct Streamed {
  template <class Make>
  explicit Streamed(Make make)
      : labels(placeholder<float>(graph, {kUnknown}, "labels")),
        predictions(placeholder<float>(graph, {kUnknown}, "predictions")),
        weights(placeholder<float>(graph, {kUnknown}, "weights")),
        metric(make(*this)),
        session(graph) {
    session.run(initialize_local_variables(graph));
  }

  // The update's result for a batch of labels, predictions and, if the metric takes them, weights.
  Tensor add(const std::vector<float>& l, const std::vector<float>& p, const std::vector<float>& w = {}) {
    return session.run(
        metric.update_op,
        {{labels, Tensor::vector(l)}, {predictions, Tensor::vector(p)}, {weights, Tensor::vector(w)}});
  }
  Tensor value() { return session.run(metric.value); }
  float number() { return value().scalar<float>(); }

  Graph graph;
  Output labels, predictions, weights;
  Metric metric;
  Session session;
};

}  // namespace runnel
