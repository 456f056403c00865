// The orders of queues. The random one is what formats 9 says of a stateful op: one Philox stream for the
// life of the queue, of which each take uses a word.
#include "kernels/queue/queue_order.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "graph/error.h"
#include "kernels/random/philox.h"

namespace runnel {
namespace {

class FirstInFirstOut final : public QueueOrder {
 public:
  void put(QueueElement element) override { elements_.push_back(std::move(element)); }
  QueueElement take() override {
    QueueElement out = std::move(elements_.front());
    elements_.pop_front();
    return out;
  }
  void put_back(QueueElement element) override { elements_.push_front(std::move(element)); }
  std::int64_t size() const override { return static_cast<std::int64_t>(elements_.size()); }

 private:
  std::deque<QueueElement> elements_;
};

class AtRandom final : public QueueOrder {
 public:
  AtRandom(std::int64_t seed, std::int64_t seed2)
      : stream_(PhiloxState(seed, seed2).take(0)), words_(stream_, 0) {}
  void put(QueueElement element) override { elements_.push_back(std::move(element)); }
  QueueElement take() override {
    QueueElement& chosen = elements_[words_() % elements_.size()];
    QueueElement out = std::exchange(chosen, QueueElement());
    if (&chosen != &elements_.back()) chosen = std::move(elements_.back());
    elements_.pop_back();
    return out;
  }
  void put_back(QueueElement element) override { put(std::move(element)); }
  std::int64_t size() const override { return static_cast<std::int64_t>(elements_.size()); }

 private:
  std::vector<QueueElement> elements_;
  Philox stream_;
  PhiloxWords words_;  // of stream_
};

class ByPriority final : public QueueOrder {
 public:
  void put(QueueElement element) override {
    if (element[0].shape().rank() != 0)
      throw InvalidArgument(cat("the priority has shape ", element[0].shape(), ", but must be a scalar"));
    const std::int64_t priority = element[0].scalar<std::int64_t>();
    heap_.push_back({priority, std::move(element)});
    std::push_heap(heap_.begin(), heap_.end(), later);
  }
  QueueElement take() override {
    std::pop_heap(heap_.begin(), heap_.end(), later);
    QueueElement out = std::move(heap_.back().element);
    heap_.pop_back();
    return out;
  }
  void put_back(QueueElement element) override { put(std::move(element)); }
  std::int64_t size() const override { return static_cast<std::int64_t>(heap_.size()); }

 private:
  struct Entry {
    std::int64_t priority;
    QueueElement element;
  };
  static bool later(const Entry& a, const Entry& b) { return a.priority > b.priority; }
  std::vector<Entry> heap_;
};

}  // namespace

std::unique_ptr<QueueOrder> first_in_first_out() { return std::make_unique<FirstInFirstOut>(); }
std::unique_ptr<QueueOrder> at_random(std::int64_t seed, std::int64_t seed2) {
  return std::make_unique<AtRandom>(seed, seed2);
}
std::unique_ptr<QueueOrder> by_priority() { return std::make_unique<ByPriority>(); }

}  // namespace runnel
