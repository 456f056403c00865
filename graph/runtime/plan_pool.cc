// Executions that a plan keeps between runs. Taking one and giving it back is one atomic exchange each.
#include <utility>

#include "graph/runtime/execution.h"
#include "graph/runtime/plan.h"

namespace runnel {

std::unique_ptr<Execution> Plan::take() {
  for (std::atomic<Execution*>& place : pool_)
    if (place.load(std::memory_order_relaxed))
      if (Execution* execution = place.exchange(nullptr, std::memory_order_acq_rel))
        return std::unique_ptr<Execution>(execution);
  return std::make_unique<Execution>(*this);
}

void Plan::give_back(std::unique_ptr<Execution> execution) {
  for (std::atomic<Execution*>& place : pool_) {
    Execution* none = nullptr;
    if (place.compare_exchange_strong(none, execution.get(), std::memory_order_acq_rel)) {
      execution.release();
      return;
    }
  }
}

Plan::~Plan() {
  for (std::atomic<Execution*>& place : pool_) delete place.load();
}

}  // namespace runnel
