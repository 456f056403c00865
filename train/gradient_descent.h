// Plain gradient descent: variable -= learning_rate * gradient. Source: tf.train.GradientDescentOptimizer.
#pragma once

#include <string>

#include "ops/operand.h"
#include "train/optimizer.h"

namespace runnel {

struct GradientDescentOptions {
  std::string name = "GradientDescent";
  Location where = Location::here();
};

// No slots.
class GradientDescent : public Optimizer {
 public:
  // The learning rate is a number or a scalar of the graph (a decay, a placeholder).
  explicit GradientDescent(Operand learning_rate, GradientDescentOptions options = {});

 protected:
  void prepare(Graph& graph) override;
  Operation apply_dense(Output gradient, const Variable& variable) override;
  Operation apply_rows(const IndexedSlices& rows, const Variable& variable) override;

 private:
  const Operand learning_rate_;
  Output learning_rate_tensor_;
};

}  // namespace runnel
