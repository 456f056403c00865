// Ends training when the loss is NaN. Source: tf.train.NanTensorHook (behaviours 15).
#pragma once

#include <string>

#include "graph/error.h"
#include "train/monitored/hook.h"

namespace runnel {

// The loss, or an element of it, is NaN.
class NanLossDuringTrainingError : public InvalidArgument {
 public:
  using InvalidArgument::InvalidArgument;
};

struct NanTensorHookOptions {
  bool fail_on_nan_loss = true;  // false: a warning, and a stop without an error
  Location where = Location::here();
};

// Looks after every run; infinities pass. Needs no global step.
class NanTensorHook final : public SessionRunHook {
 public:
  // Throws InvalidArgument for a tensor that holds no floating-point numbers.
  explicit NanTensorHook(Output loss_tensor, NanTensorHookOptions options = {});

  std::string name() const override { return "NanTensorHook"; }
  std::optional<SessionRunArgs> before_run(SessionRunContext& context) override;
  // Throws NanLossDuringTrainingError.
  void after_run(SessionRunContext& context, const SessionRunValues& values) override;

 private:
  Output loss_;
  NanTensorHookOptions options_;
};

Hook nan_tensor(Output loss_tensor, NanTensorHookOptions options = {});

}  // namespace runnel
