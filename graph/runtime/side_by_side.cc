// Chains share nothing but the context: they were cut so that no value passes between them.
#include "graph/runtime/side_by_side.h"

#include <atomic>
#include <exception>
#include <limits>
#include <mutex>

#include "graph/error.h"
#include "graph/runtime/execution.h"

namespace runnel {
namespace {

// The first error of a group, by rank.
class FirstError {
 public:
  bool stops(int rank) const { return rank > rank_.load(std::memory_order_relaxed); }
  void keep(int rank, std::exception_ptr error) {
    std::lock_guard hold(mutex_);
    if (rank > rank_) return;
    rank_ = rank;
    error_ = std::move(error);
  }
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  std::atomic<int> rank_{std::numeric_limits<int>::max()};
  std::mutex mutex_;
  std::exception_ptr error_;
};

void run_chain(const std::vector<ChainStep>& chain, Execution& e, FirstError& first) {
  for (const ChainStep& at : chain) {
    if (first.stops(at.rank)) return;
    try {
      e.run_step(at.step, at.info);
    } catch (...) {
      try {
        rethrow_at(at.info);
      } catch (...) {
        first.keep(at.rank, std::current_exception());
      }
      return;
    }
  }
}

}  // namespace

BoundKernel side_by_side_step(SideBySide plan) {
  return BoundKernel::make([plan = std::move(plan)](Context& c) {
    Execution& e = static_cast<Execution&>(c);
    e.throw_if_stopped();
    FirstError first;
    e.run_chains(static_cast<int>(plan.chains.size()),
                 [&](int k) { run_chain(plan.chains[static_cast<std::size_t>(k)], e, first); });
    first.rethrow();
  });
}

std::string side_by_side_text(const SideBySide& plan) {
  std::string text = cat(plan.chains.size(), " chains side by side");
  for (std::size_t k = 0; k < plan.chains.size(); ++k)
    for (const ChainStep& at : plan.chains[k])
      if (!at.info.text.empty()) text += cat("\n      chain ", k, ": ", at.info.text);
  return text;
}

}  // namespace runnel
