// What an evaluation found: the values of its metrics, the loss and the step of the checkpoint.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "graph/tensor.h"

namespace runnel {

// A value. Empty if nothing was evaluated: there was no new checkpoint, or a stop came first.
struct EvaluationResult {
  std::map<std::string, Tensor> values = {};  // with "loss" and "global_step"
  std::string checkpoint_path = "";           // "": the model was initialised

  bool empty() const { return values.empty(); }
  bool has(const std::string& name) const { return values.contains(name); }
  // A scalar as a number. Throws NotFound naming what there is, InvalidArgument for what is no number.
  double number(const std::string& name) const;
  std::int64_t global_step() const;  // throws NotFound if it is empty
  // "accuracy = 0.97, global_step = 500, loss = 0.1", by name.
  std::string text() const;
};

}  // namespace runnel
