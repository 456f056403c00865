// Locking many variables, and replacing their buffers.
#include "graph/runtime/variable_values.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "graph/error.h"
#include "graph/runtime/running.h"

namespace runnel {

VariableLocks::VariableLocks(Engine& engine, std::vector<VariableSlot*> slots, bool exclusive)
    : engine_(engine), slots_(std::move(slots)), exclusive_(exclusive) {
  std::ranges::sort(slots_, {}, &VariableSlot::number);
  slots_.erase(std::unique(slots_.begin(), slots_.end()), slots_.end());
  const std::int64_t timeout = engine.options().operation_timeout_in_ms;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout);
  const std::function<void()> stop = [&] {
    if (engine.closed()) throw Cancelled("the session was closed");
    if (timeout > 0 && std::chrono::steady_clock::now() > deadline)
      throw DeadlineExceeded("steps held variables for longer than operation_timeout_in_ms allows");
  };
  try {
    for (; locked_ < slots_.size(); ++locked_) slots_[locked_]->lock(exclusive_, engine_.lock_room(), stop);
  } catch (...) {
    unlock();
    throw;
  }
}

void VariableLocks::unlock() {
  for (; locked_ > 0; --locked_) slots_[locked_ - 1]->unlock(exclusive_, engine_.lock_room());
}

void set_variables(Engine& engine, const std::vector<VariableValue>& values) {
  const Running running(engine);
  std::vector<VariableSlot*> slots;
  slots.reserve(values.size());
  for (const VariableValue& one : values) {
    slots.push_back(engine.slot_of(*one.variable));
    if (slots.back()->dtype != one.value.dtype())
      throw InvalidArgument(cat("variable '", slots.back()->name, "' holds ", slots.back()->dtype, ", not ",
                                one.value.dtype()));
  }
  const VariableLocks locks(engine, slots, true);
  for (std::size_t i = 0; i < values.size(); ++i) {
    slots[i]->shape = values[i].value.shape();
    slots[i]->buffer = values[i].value.buffer();
  }
  engine.epoch.fetch_add(1, std::memory_order_release);
}

}  // namespace runnel
