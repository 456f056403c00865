// In which order a queue hands out what it holds: first in first out, at random, or by priority. Called under
// the queue's lock.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "graph/tensor.h"

namespace runnel {

// What one enqueue puts in: a tensor a component.
using QueueElement = std::vector<Tensor>;

class QueueOrder {
 public:
  virtual ~QueueOrder() = default;
  virtual void put(QueueElement element) = 0;
  // Requires: size() > 0.
  virtual QueueElement take() = 0;
  // Takes back what take() gave last.
  virtual void put_back(QueueElement element) = 0;
  virtual std::int64_t size() const = 0;
};

std::unique_ptr<QueueOrder> first_in_first_out();
// Any element with the same chance. The numbers drawn are TensorFlow's for these seeds; (0, 0) starts
// differently each time.
std::unique_ptr<QueueOrder> at_random(std::int64_t seed, std::int64_t seed2);
// The smallest component 0, an int64 scalar, first; equal ones in the order of the C++ library's heap, which
// is TensorFlow's too.
std::unique_ptr<QueueOrder> by_priority();

}  // namespace runnel
