// The contended side of a variable's lock.
#include "graph/runtime/variable_slot.h"

namespace runnel {

void LockRoom::wake_all() {
  std::lock_guard hold(mutex);
  changed.notify_all();
}

void VariableSlot::wait(bool exclusive, LockRoom& room, const std::function<void()>& stop) {
  struct Waiting {
    std::atomic<int>& count;
    explicit Waiting(std::atomic<int>& c) : count(c) { count.fetch_add(1, std::memory_order_seq_cst); }
    ~Waiting() { count.fetch_sub(1, std::memory_order_seq_cst); }
  } waiting(room.waiting);
  std::unique_lock hold(room.mutex);
  // Whoever unlocks after our count went up wakes us under the mutex; before that, try_lock sees the free
  // word.
  while (!try_lock(exclusive)) {
    stop();
    room.changed.wait_for(hold, std::chrono::milliseconds(50));  // a deadline passes without anybody's notice
  }
}

}  // namespace runnel
