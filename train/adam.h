// Adam: steps scaled by running means of the gradient and of its square, both corrected for starting at 0.
// Source: tf.train.AdamOptimizer; Kingma and Ba 2014, in the form of the text before section 2.1.
#pragma once

#include <string>

#include "ops/operand.h"
#include "train/optimizer.h"

namespace runnel {

struct AdamOptions {
  float beta1 = 0.9f;     // decay of the mean of gradients
  float beta2 = 0.999f;   // decay of the mean of squares
  float epsilon = 1e-8f;  // keeps the divisor from 0
  std::string name = "Adam";
  Location where = Location::here();
};

// Slots "m" and "v", variables VAR/Adam and VAR/Adam_1 that start at 0; and once a graph beta1_power and
// beta2_power, the decays to the number of the step.
class Adam : public Optimizer {
 public:
  explicit Adam(Operand learning_rate = 0.001f, AdamOptions options = {});

 protected:
  void create_slots(const std::vector<Variable>& variables) override;
  void prepare(Graph& graph) override;
  Operation apply_dense(Output gradient, const Variable& variable) override;
  Operation apply_rows(const IndexedSlices& rows, const Variable& variable) override;
  Operation finish(Graph& graph, const std::vector<Operation>& updates, const std::string& name) override;

 private:
  Operation decay(const Variable& power, Output beta);

  const Operand learning_rate_;
  const AdamOptions options_;
  Output learning_rate_tensor_, beta1_tensor_, beta2_tensor_, epsilon_tensor_;
};

}  // namespace runnel
