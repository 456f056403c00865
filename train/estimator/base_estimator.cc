// See base_estimator.h.
#include "train/estimator/base_estimator.h"

#include "train/checkpoint/checkpoint_state.h"
#include "train/estimator/global_step_of.h"

namespace runnel {

std::string BaseEstimator::latest_checkpoint() const {
  try {
    return runnel::latest_checkpoint(model_dir(), {.file_system = &config().files()});
  } catch (const NotFound&) {
    return "";
  }
}

std::int64_t BaseEstimator::trained_steps() const {
  return global_step_of(latest_checkpoint(), config().files());
}

}  // namespace runnel
