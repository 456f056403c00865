// See worker_delay.h.
#include "train/estimator/worker_delay.h"

#include <algorithm>
#include <cmath>

namespace runnel {

double worker_start_delay(std::int64_t task_id) {
  constexpr double kSecondsEach = 5, kMost = 60;
  return std::min(kMost, kSecondsEach * static_cast<double>(task_id));
}

std::int64_t worker_start_step(std::int64_t task_id) {
  constexpr double kSteps = 8000;
  return static_cast<std::int64_t>(kSteps * std::log(static_cast<double>(task_id) + 1));
}

}  // namespace runnel
