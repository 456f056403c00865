// Running a plan: feeds, early steps, locks, the loop, results, and back.
#include "graph/runtime/execution.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "graph/error.h"
#include "graph/runtime/float_state.h"

namespace runnel {
namespace {

constexpr std::size_t kAlignment = 64;
// A result may lie in memory of a larger one before it; beyond this it is copied out, so that who keeps small
// results keeps no large memory.
constexpr std::size_t kMostSlack = 4, kSmallBytes = 4096;
// A value of so many bytes becomes the variable's as it is, rather than being copied into its memory.
constexpr std::size_t kWorthMoving = 1 << 16;

[[noreturn]] void refuse_uninitialized(const Graph& graph, const VariableSlot& slot, const Node* reader) {
  bool local = false;
  for (const Variable& v : graph.variables(keys::kLocalVariables)) local |= v.name() == slot.name;
  std::string text = "Attempting to use uninitialized value " + slot.name;
  if (reader) text += cat(", read by ", reader->op(), " '", reader->name(), "'");
  throw FailedPrecondition(
      text + (local ? ": run initialize_local_variables first"
                    : ": run the initializer (initialize_global_variables) or restore a checkpoint first"),
      reader ? reader->where() : Location{}, reader ? reader->name() : slot.name);
}

[[noreturn]] void fail(const Error& error, const StepInfo& info) {
  if (!info.node) throw_error(error.code(), error.message(), error.where(), error.node());
  throw_at_node(error, info.node->op(), info.node->name(), info.node->where());
}

}  // namespace

void rethrow_at(const StepInfo& info) {
  try {
    throw;
  } catch (const Error& error) {
    fail(error, info);
  } catch (const std::bad_alloc&) {
    fail(ResourceExhausted("no memory is left"), info);
  } catch (const std::exception& error) {
    fail(Internal(error.what()), info);
  }
}

Execution::Execution(const Plan& plan)
    : plan_(plan),
      engine_(*plan.engine),
      pointers_(plan.slots.size(), nullptr),
      tensors_(plan.slots.size()),
      shapes_(plan.slots.size(), Shape::unknown()),
      dead_(static_cast<std::size_t>(plan.flags), 0),
      late_(static_cast<std::size_t>(plan.late_steps)) {
  if (plan.arena_bytes > 0) {
    const std::size_t bytes = (plan.arena_bytes + kAlignment - 1) / kAlignment * kAlignment;
    arena_ = std::aligned_alloc(kAlignment, bytes);
    if (!arena_) throw ResourceExhausted(cat("no memory for the ", bytes, " bytes that this step works in"));
  }
  table_ = pointers_.data();
  pooled_ = engine_.kernel_threads() > 1;
  for (std::size_t s = 0; s < plan.slots.size(); ++s) pointers_[s] = memory_of(plan.slots[s]);
}

Execution::~Execution() { std::free(arena_); }

void* Execution::memory_of(const Slot& slot) const {
  if (slot.root == Root::kArena) return static_cast<char*>(arena_) + slot.offset;
  if (slot.root == Root::kConstant)
    return const_cast<void*>(plan_.constants[static_cast<std::size_t>(slot.index)].data());
  return nullptr;
}

bool Execution::cancelled() const {
  if (engine_.closed()) return true;
  if (options_ && options_->cancellation && options_->cancellation->cancelled()) return true;
  return has_deadline_ && std::chrono::steady_clock::now() > deadline_;
}

void Execution::throw_if_stopped() const {
  if (engine_.closed()) throw Cancelled("the session was closed while this step ran");
  if (options_->cancellation && options_->cancellation->cancelled())
    throw Cancelled("the step was cancelled");
  if (has_deadline_ && std::chrono::steady_clock::now() > deadline_)
    throw DeadlineExceeded("the step took longer than its timeout_in_ms allows");
}

void Execution::run(std::span<const Feed> feeds, const RunOptions& options, Tensor* out) {
  if (options.run_metadata && !trace_) return run_recorded(feeds, options, out);
  options_ = &options;
  const std::int64_t timeout =
      options.timeout_in_ms > 0 ? options.timeout_in_ms : engine_.options().operation_timeout_in_ms;
  has_deadline_ = timeout > 0;
  if (has_deadline_) deadline_ = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout);
  if (has_deadline_ || options.cancellation) throw_if_stopped();
  take_feeds(feeds);
  renew_own();
  struct End {
    Execution& e;
    std::size_t locked = 0;
    ~End() {
      e.unlock_variables(locked);
      e.drop_aliases();
    }
  } end{*this};
  if (!plan_.early.empty()) run_early();
  lock_variables();
  end.locked = plan_.variables.size();
  look_at_variables();
  for (const PlannedVariable& variable : plan_.variables) own(variable);
  run_steps();
  hand_out(out);
  engine_.counters.kernels_run.store(plan_.kernels, std::memory_order_relaxed);
}

// Feeds are the caller's, who holds them for the step alone: whoever fed a tensor may write it afterwards
// without a copy.
void Execution::take_feeds(std::span<const Feed> feeds) {
  feeds_ = feeds;
  for (std::size_t i = 0; i < feeds.size(); ++i)
    for (const int s : plan_.feed_slots[i]) {
      pointers_[static_cast<std::size_t>(s)] = const_cast<void*>(feeds[i].value.data());
      if (plan_.dynamic) shapes_[static_cast<std::size_t>(s)] = feeds[i].value.shape();
    }
}

// Results that somebody still holds from an earlier step keep their memory; this one gets new.
void Execution::renew_own() {
  for (const int s : plan_.own_slots) {
    Tensor& tensor = tensors_[static_cast<std::size_t>(s)];
    if (tensor && !tensor.buffer()->shared()) continue;
    const Slot& slot = plan_.slots[static_cast<std::size_t>(s)];
    tensor = Tensor(slot.dtype, slot.shape);
    for (const int view : plan_.views[static_cast<std::size_t>(s)])
      pointers_[static_cast<std::size_t>(view)] = tensor.mutable_data();
  }
}

void Execution::lock_variables() {
  std::size_t k = 0;
  try {
    for (; k < plan_.variables.size(); ++k) {
      const PlannedVariable& v = plan_.variables[k];
      if (!v.slot->try_lock(v.exclusive))
        v.slot->lock(v.exclusive, engine_.lock_room(), [this] { throw_if_stopped(); });
    }
  } catch (...) {
    unlock_variables(k);
    throw;
  }
}

void Execution::unlock_variables(std::size_t count) {
  for (std::size_t k = 0; k < count; ++k)
    plan_.variables[k].slot->unlock(plan_.variables[k].exclusive, engine_.lock_room());
}

void Execution::point(const PlannedVariable& variable) {
  void* data = variable.slot->buffer ? variable.slot->buffer->data() : nullptr;
  for (const int s : variable.slots) pointers_[static_cast<std::size_t>(s)] = data;
}

void Execution::look_at(const PlannedVariable& variable) {
  if (variable.slot->buffer) {
    if (variable.shape_matters && !(variable.slot->shape == variable.assumed)) throw PlanOutgrown{};
  } else if (variable.needs_value) {
    refuse_uninitialized(engine_.graph(), *variable.slot, variable.reader);
  }
  point(variable);
}

void Execution::look_at_variables() {
  const std::uint64_t now = engine_.epoch.load(std::memory_order_acquire);
  if (now == epoch_) return;
  try {
    for (const PlannedVariable& variable : plan_.variables) look_at(variable);
  } catch (const PlanOutgrown&) {
    if (!plan_.early.empty()) refuse_again();
    throw;
  }
  epoch_ = now;
}

// A buffer that someone else holds, as a fetched tensor or a snapshot, is copied before it is written.
void Execution::own(const PlannedVariable& variable) {
  VariableSlot& slot = *variable.slot;
  if (!variable.updated || !slot.buffer || !slot.buffer->shared()) return;
  Tensor copy(slot.dtype, slot.shape, slot.buffer);
  copy.mutable_data();
  slot.buffer = copy.buffer();
  copy = {};
  engine_.epoch.fetch_add(1, std::memory_order_release);
  engine_.counters.copies_by_writers.fetch_add(1, std::memory_order_relaxed);
  point(variable);
}

void Execution::run_steps() {
  const FloatState flushed;
  if (trace_) return run_recorded_steps();
  const Step* step = plan_.steps.data();
  const Step* const end = step + plan_.steps.size();
  try {
    for (; step != end; ++step) step->run(step->closure, *this);
  } catch (...) {
    rethrow_at(plan_.infos[static_cast<std::size_t>(step - plan_.steps.data())]);
  }
}

void Execution::hand_out(Tensor* out) {
  for (std::size_t k = 0; k < plan_.fetches.size(); ++k) {
    const Plan::Fetched& fetched = plan_.fetches[k];
    if (fetched.slot < 0) {
      out[k] = Tensor();
      continue;
    }
    if (std::ranges::any_of(fetched.flags, [&](int flag) { return is_dead(flag); }))
      throw InvalidArgument(
          cat("'", fetched.name, "' has no value in this step: it lies on the side of a switch not taken"));
    out[k] = tensor(fetched.slot);
    if (out[k].buffer()->bytes() > kMostSlack * out[k].bytes() + kSmallBytes)
      out[k].mutable_data();  // copies, since the slot holds it too
  }
}

// Else an owner would find its memory shared in the next step, and take new.
void Execution::drop_aliases() {
  for (auto at = aliased_.rbegin(); at != aliased_.rend(); ++at)
    tensors_[static_cast<std::size_t>(at->first)] = std::move(at->second);
  aliased_.clear();
}

const PlannedVariable& Execution::variable_at(int slot) const {
  return plan_.variables[static_cast<std::size_t>(plan_.slots[static_cast<std::size_t>(slot)].index)];
}

Shape Execution::shape_of(int slot) const {
  const Slot& s = plan_.slots[static_cast<std::size_t>(slot)];
  if (s.shape.is_known()) return s.shape;
  if (s.root != Root::kVariable) return shapes_[static_cast<std::size_t>(slot)];
  const PlannedVariable& variable = variable_at(slot);
  return variable.slot->buffer ? variable.slot->shape : variable.assumed;
}

// The counted memory that a feed or a slot of its own lies in; no value where it lies in other memory.
Tensor Execution::held(int slot, const Shape& shape) const {
  const Slot& s = plan_.slots[static_cast<std::size_t>(slot)];
  const Tensor& memory = s.root == Root::kFeed ? feeds_[static_cast<std::size_t>(s.index)].value
                                               : tensors_[static_cast<std::size_t>(s.root_slot)];
  const bool holds = memory && memory.data() == pointers_[static_cast<std::size_t>(slot)];
  return holds ? Tensor(s.dtype, shape, memory.buffer()) : Tensor();
}

// The same, and large memory that its only reader hands on leaves the slot, so that it need not be copied.
Tensor Execution::handed(int slot, const Shape& shape) {
  Tensor memory = held(slot, shape);
  if (plan_.slots[static_cast<std::size_t>(slot)].moves && memory.bytes() >= kWorthMoving)
    tensors_[static_cast<std::size_t>(slot)] = Tensor();
  return memory;
}

Tensor Execution::tensor(int slot) {
  const Slot& s = plan_.slots[static_cast<std::size_t>(slot)];
  const Shape shape = shape_of(slot);
  switch (s.root) {
    case Root::kConstant: return plan_.constants[static_cast<std::size_t>(s.index)].reshaped(shape);
    case Root::kVariable: {
      const VariableSlot& variable = *variable_at(slot).slot;
      if (!variable.buffer) refuse_uninitialized(engine_.graph(), variable, nullptr);
      return Tensor(s.dtype, shape, variable.buffer);
    }
    case Root::kFeed:
    case Root::kOwn:
      if (Tensor memory = handed(slot, shape)) return memory;
      break;
    case Root::kTile:
    case Root::kArena: break;
  }
  Tensor copy(s.dtype, shape);
  if (s.dtype == DType::kString) {
    const auto* from = static_cast<const std::string*>(pointers_[static_cast<std::size_t>(slot)]);
    std::copy(from, from + copy.elements(), copy.mutable_values<std::string>().begin());
  } else if (copy.bytes() > 0) {
    std::memcpy(copy.mutable_data(), pointers_[static_cast<std::size_t>(slot)], copy.bytes());
  }
  return copy;
}

void Execution::set_output(int slot, Tensor value) {
  const Slot& s = plan_.slots[static_cast<std::size_t>(slot)];
  if (value.dtype() != s.dtype || !value.shape().compatible_with(s.shape))
    throw Internal(
        cat("a kernel gave ", value.dtype(), value.shape(), " for an output of ", s.dtype, s.shape));
  shapes_[static_cast<std::size_t>(slot)] = value.shape();
  if (s.root == Root::kArena) {
    if (value.bytes() > 0)
      std::memcpy(pointers_[static_cast<std::size_t>(slot)], value.data(), value.bytes());
    return;
  }
  tensors_[static_cast<std::size_t>(slot)] = std::move(value);
  void* data = const_cast<void*>(tensors_[static_cast<std::size_t>(slot)].data());
  for (const int view : plan_.views[static_cast<std::size_t>(slot)])
    pointers_[static_cast<std::size_t>(view)] = data;
}

void Execution::alias(int slot, int from, const Shape& shape) {
  const auto to = static_cast<std::size_t>(slot);
  const Slot& source = plan_.slots[static_cast<std::size_t>(from)];
  shapes_[to] = shape;
  pointers_[to] = pointers_[static_cast<std::size_t>(from)];
  for (const int view : plan_.views[to]) pointers_[static_cast<std::size_t>(view)] = pointers_[to];
  aliased_.emplace_back(slot, std::move(tensors_[to]));
  // Holds the memory where it is counted; the arena's and a variable's outlives the step.
  const bool counted = source.root == Root::kOwn || source.root == Root::kFeed;
  tensors_[to] = source.root == Root::kConstant ? tensor(from).reshaped(shape)
                 : counted                      ? handed(from, shape)
                                                : Tensor();
}

void* Execution::make_room(int slot, const Shape& shape) {
  const auto at = static_cast<std::size_t>(slot);
  const Slot& s = plan_.slots[at];
  if (!shape.compatible_with(s.shape))
    throw Internal(cat("a kernel gave ", s.dtype, shape, " for an output of ", s.dtype, s.shape));
  if (s.root == Root::kArena)  // an earlier step may have pointed it elsewhere
    for (const int view : plan_.views[at]) pointers_[static_cast<std::size_t>(view)] = memory_of(s);
  if (s.root != Root::kOwn) return pointers_[at];
  Tensor& tensor = tensors_[at];
  const bool fits = tensor && tensor.dtype() == s.dtype && !tensor.buffer()->shared() &&
                    tensor.buffer()->count() >= shape.elements();
  if (!fits) {
    tensor = Tensor(s.dtype, shape);
  } else if (!(tensor.shape() == shape)) {
    tensor = Tensor(s.dtype, shape, tensor.buffer());
  }
  shapes_[at] = shape;
  for (const int view : plan_.views[at]) pointers_[static_cast<std::size_t>(view)] = tensor.mutable_data();
  return pointers_[at];
}

void Execution::assign(int slot, Tensor value) {
  const PlannedVariable& variable = variable_at(slot);
  VariableSlot& to = *variable.slot;
  if (value.dtype() != to.dtype)
    throw InvalidArgument(cat("variable '", to.name, "' holds ", to.dtype, ", not ", value.dtype()));
  const bool owned = !value.buffer()->shared() && value.buffer()->count() == value.elements();
  const bool in_place = to.buffer && !to.buffer->shared() && to.shape == value.shape() &&
                        to.dtype != DType::kString && !(owned && value.bytes() >= kWorthMoving);
  if (in_place) {
    if (value.bytes() > 0) std::memmove(to.buffer->data(), value.data(), value.bytes());
    return;
  }
  // A tensor that nobody else holds becomes the value; another is copied, so that later updates need not.
  if (!owned) {
    Tensor copy(value.dtype(), value.shape());
    if (value.dtype() == DType::kString) {
      std::ranges::copy(value.values<std::string>(), copy.mutable_values<std::string>().begin());
    } else if (value.bytes() > 0) {
      std::memcpy(copy.mutable_data(), value.data(), value.bytes());
    }
    value = std::move(copy);
  }
  to.shape = value.shape();
  to.buffer = value.buffer();
  engine_.epoch.fetch_add(1, std::memory_order_release);
  point(variable);
}

bool Execution::initialized(int slot) const { return static_cast<bool>(variable_at(slot).slot->buffer); }

void Execution::require_initialized(int slot, const Node* reader) const {
  const VariableSlot& variable = *variable_at(slot).slot;
  if (!variable.buffer) refuse_uninitialized(engine_.graph(), variable, reader);
}

void Execution::parallel_ranges(std::int64_t n, std::int64_t grain,
                                const std::function<void(std::int64_t, std::int64_t)>& body) {
  // Threads of the pool must flush denormals too, or results would depend on which thread did what.
  engine_.pool()->for_ranges(
      n, grain,
      [&body](std::int64_t begin, std::int64_t end) {
        const FloatState flushed;
        body(begin, end);
      },
      engine_.kernel_threads());
}

void Execution::run_chains(int n, const std::function<void(int)>& body) {
  engine_.pool()->side_by_side(n, engine_.chain_threads(), [&body](int k) {
    const FloatState flushed;
    body(k);
  });
}

}  // namespace runnel
