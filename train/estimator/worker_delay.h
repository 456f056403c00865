// How long a worker waits before it trains, so that the workers of a job do not all start at once. Source:
// contrib.learn's Experiment.train (behaviours 23.2).
#pragma once

#include <cstdint>

namespace runnel {

// In seconds: five for each worker before this one, at most a minute.
double worker_start_delay(std::int64_t task_id);

// The global step to wait for: 8000 times the logarithm of the task's number plus one, without its fraction.
std::int64_t worker_start_step(std::int64_t task_id);

}  // namespace runnel
