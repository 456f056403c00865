// The quotient is a product with the reciprocal, as in TensorFlow, so that the numbers are the same.
#include "train/input/fullness.h"

#include "graph/error.h"
#include "ops/arithmetic_ops.h"
#include "ops/math_ops.h"
#include "summary/summary_ops.h"

namespace runnel {
namespace {

void summarize(Output elements, std::int64_t capacity, const std::string& name) {
  summary::scalar(name, cast<float>(elements) * (1.0 / static_cast<double>(capacity)));
}

}  // namespace

void summarize_fullness(const QueueBase& queue, std::int64_t capacity, const std::string& name) {
  summarize(queue.size(), capacity, name);
}

void summarize_fullness_over(const QueueBase& queue, std::int64_t min_after_dequeue, std::int64_t capacity) {
  const std::int64_t over = capacity - min_after_dequeue;
  summarize(maximum(0, queue.size() - min_after_dequeue), over,
            cat("fraction_over_", min_after_dequeue, "_of_", over, "_full"));
}

}  // namespace runnel
