// The shared state behind a CancellationToken: a flag, and the parked steps to wake when it goes up.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "graph/kernel.h"
#include "graph/runtime/session.h"

namespace runnel {

struct CancellationToken::State {
  std::atomic<bool> flag{false};

  void add(const std::shared_ptr<Waker>& waker) {
    std::lock_guard hold(mutex);
    wakers.push_back(waker);
  }
  void remove(const std::shared_ptr<Waker>& waker) {
    std::lock_guard hold(mutex);
    std::erase(wakers, waker);
  }
  void cancel() {
    flag.store(true, std::memory_order_release);
    std::lock_guard hold(mutex);
    for (const std::shared_ptr<Waker>& waker : wakers) waker->wake();
  }

 private:
  std::mutex mutex;
  std::vector<std::shared_ptr<Waker>> wakers;
};

}  // namespace runnel
