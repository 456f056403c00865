// The value of one variable in one session: a counted buffer behind a reader-writer lock word. A step takes
// the locks of the variables it touches in a fixed order and keeps them to its end, so that steps are serial
// where they meet and a snapshot is a cut between steps.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>

#include "graph/buffer.h"
#include "graph/dtype.h"
#include "graph/shape.h"

namespace runnel {

// Where steps wait for each other's variables. The uncontended paths never come here.
struct LockRoom {
  std::mutex mutex;
  std::condition_variable changed;
  std::atomic<int> waiting{0};
  // Wakes those who wait, so that they look at their stop condition again.
  void wake_all();
};

// Buffer, dtype and shape are guarded by the lock word.
struct VariableSlot {
  VariableSlot(std::string name, DType dtype, int number)
      : name(std::move(name)), dtype(dtype), number(number) {}

  const std::string name;
  const DType dtype;
  const int number;  // locks are taken in this order
  BufferRef buffer;  // null: uninitialised
  Shape shape;

  bool try_lock(bool exclusive) {
    std::uint32_t seen = word_.load(std::memory_order_relaxed);
    if (exclusive)
      return seen == 0 && word_.compare_exchange_strong(seen, kWriter, std::memory_order_acquire);
    while (!(seen & kWriter))
      if (word_.compare_exchange_weak(seen, seen + 1, std::memory_order_acquire)) return true;
    return false;
  }
  // Waits until it has the lock; `stop` may throw to give up.
  void lock(bool exclusive, LockRoom& room, const std::function<void()>& stop) {
    if (!try_lock(exclusive)) wait(exclusive, room, stop);
  }
  void unlock(bool exclusive, LockRoom& room) {
    if (exclusive) {
      word_.store(0, std::memory_order_seq_cst);
    } else {
      word_.fetch_sub(1, std::memory_order_seq_cst);
    }
    if (room.waiting.load(std::memory_order_seq_cst) > 0) room.wake_all();
  }

 private:
  static constexpr std::uint32_t kWriter = std::uint32_t{1} << 31;
  void wait(bool exclusive, LockRoom& room, const std::function<void()>& stop);
  std::atomic<std::uint32_t> word_{0};
};

}  // namespace runnel
