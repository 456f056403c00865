// Descent with momentum: accum = momentum * accum + gradient, variable -= learning_rate * accum; with
// Nesterov's correction the variable moves by learning_rate * (gradient + momentum * accum). Source:
// tf.train.MomentumOptimizer; Sutskever et al. 2013.
#pragma once

#include <string>

#include "ops/operand.h"
#include "train/optimizer.h"

namespace runnel {

struct MomentumOptions {
  std::string name = "Momentum";
  bool use_nesterov = false;
  Location where = Location::here();
};

// Slot "momentum": the accumulator, a variable VAR/Momentum that starts at 0.
class Momentum : public Optimizer {
 public:
  Momentum(Operand learning_rate, Operand momentum, MomentumOptions options = {});

 protected:
  void create_slots(const std::vector<Variable>& variables) override;
  void prepare(Graph& graph) override;
  Operation apply_dense(Output gradient, const Variable& variable) override;
  // Rows without a gradient stay, and so do their accumulators.
  Operation apply_rows(const IndexedSlices& rows, const Variable& variable) override;

 private:
  const Operand learning_rate_, momentum_;
  const bool use_nesterov_;
  Output learning_rate_tensor_, momentum_tensor_;
};

}  // namespace runnel
