// The scalar summary that input queues have: how full they are, 1 being full.
#pragma once

#include <cstdint>
#include <string>

#include "ops/queue_ops.h"

namespace runnel {

// Elements over capacity, under the tag `name` in the current scope.
void summarize_fullness(const QueueBase& queue, std::int64_t capacity, const std::string& name);

// The same of what a shuffling queue holds beyond min_after_dequeue: "fraction_over_10_of_40_full".
void summarize_fullness_over(const QueueBase& queue, std::int64_t min_after_dequeue, std::int64_t capacity);

}  // namespace runnel
