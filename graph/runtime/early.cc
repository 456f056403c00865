// Steps that may park: they run before any variable is locked, round after round, and sleep together until
// one of them is woken, the step is stopped, or its time is up.
#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>

#include "graph/error.h"
#include "graph/runtime/cancellation.h"
#include "graph/runtime/execution.h"
#include "graph/runtime/float_state.h"
#include "graph/runtime/step_trace.h"

namespace runnel {

// Where a step with parked kernels waits for one of them to be woken.
class Execution::Parking final : public Waker {
 public:
  void wake() override {
    std::lock_guard hold(mutex_);
    woken_ = true;
    changed_.notify_all();
  }
  void wait(bool has_deadline, std::chrono::steady_clock::time_point deadline) {
    std::unique_lock hold(mutex_);
    const auto woken = [this] { return woken_; };
    if (has_deadline) {
      changed_.wait_until(hold, deadline, woken);
    } else {
      changed_.wait(hold, woken);
    }
    woken_ = false;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool woken_ = false;
};

// While it lives, those who stop steps know of one that waits. Who stops sets a flag first and then wakes;
// who waits makes itself known first and then looks at the flags.
class Execution::Known {
 public:
  Known(Engine& engine, std::shared_ptr<Waker> waker, const CancellationToken* token)
      : engine_(engine), waker_(std::move(waker)), token_(token) {
    engine_.add_parked(waker_);
    if (token_) token_->state()->add(waker_);
  }
  ~Known() {
    engine_.remove_parked(waker_);
    if (token_) token_->state()->remove(waker_);
  }
  Known(const Known&) = delete;
  Known& operator=(const Known&) = delete;

 private:
  Engine& engine_;
  const std::shared_ptr<Waker> waker_;
  const CancellationToken* token_;
};

// Steps that may park run round after round, each as soon as what it waits for is done; when a round brings
// nothing the thread sleeps until a parked kernel is woken, the step is stopped, or its time is up.
void Execution::run_early() {
  if (!parking_) parking_ = std::make_shared<Parking>();
  check_outgrown();
  struct Drop {
    std::vector<std::shared_ptr<Parked>>& parked;
    ~Drop() { parked.clear(); }
  } drop{parked_};
  parked_.resize(plan_.early.size());
  std::optional<Known> known;
  std::vector<char> done(plan_.early.size(), 0);
  for (std::size_t left = done.size(); left > 0;) {
    bool moved = false;
    for (std::size_t k = 0; k < done.size(); ++k) {
      const EarlyStep& step = plan_.early[k];
      if (done[k] ||
          !std::ranges::all_of(step.after, [&](int a) { return done[static_cast<std::size_t>(a)] != 0; }))
        continue;
      stop_parked({});  // before, not behind: what the last one took would be lost
      trying_ = k;
      if (!run_early_step(step)) continue;
      parked_[k].reset();
      done[k] = 1;
      moved = true;
      --left;
    }
    if (!moved) {
      if (!known) known.emplace(engine_, parking_, options_->cancellation);
      stop_parked(engine_.no_waiting());
      parking_->wait(has_deadline_, deadline_);
    }
  }
}

bool Execution::run_early_step(const EarlyStep& step) {
  std::size_t locked = 0;
  const auto unlock = [&] {
    for (std::size_t k = 0; k < locked; ++k) {
      const PlannedVariable& v = plan_.variables[static_cast<std::size_t>(step.variables[k])];
      v.slot->unlock(v.exclusive, engine_.lock_room());
    }
  };
  try {
    for (; locked < step.variables.size(); ++locked) {
      const PlannedVariable& v = plan_.variables[static_cast<std::size_t>(step.variables[locked])];
      v.slot->lock(v.exclusive, engine_.lock_room(), [this] { throw_if_stopped(); });
    }
    for (const int k : step.variables) {
      look_at(plan_.variables[static_cast<std::size_t>(k)]);
      own(plan_.variables[static_cast<std::size_t>(k)]);
    }
    const FloatState flushed;
    const auto start = trace_ ? std::chrono::steady_clock::now() : std::chrono::steady_clock::time_point();
    const bool done =
        step.try_run ? step.try_run(step.closure, *this) : (step.run(step.closure, *this), true);
    if (trace_) done ? trace_->note(step.info, start) : trace_->tried(step.info, start);
    unlock();
    return done;
  } catch (const PlanOutgrown&) {
    unlock();
    refuse_again();
  } catch (...) {
    unlock();
    rethrow_at(step.info);
  }
}

// While nothing has run yet, another plan may take over.
void Execution::check_outgrown() {
  if (engine_.epoch.load(std::memory_order_acquire) == epoch_) return;
  for (const PlannedVariable& v : plan_.variables) {
    v.slot->lock(false, engine_.lock_room(), [this] { throw_if_stopped(); });
    const bool outgrown = v.slot->buffer && v.shape_matters && !(v.slot->shape == v.assumed);
    v.slot->unlock(false, engine_.lock_room());
    if (outgrown) throw PlanOutgrown{};
  }
}

// What ran before it waited has taken effect, so the step must not begin anew.
void Execution::refuse_again() const {
  throw Aborted("a variable got another shape while this step waited: run the step again");
}

// Throws if the step was stopped or must not wait for a reason, naming what waits.
void Execution::stop_parked(const std::optional<std::string>& no_waiting) {
  try {
    throw_if_stopped();
    if (no_waiting) throw Cancelled(*no_waiting);
  } catch (const Error& error) {
    std::size_t k = 0;
    while (k < parked_.size() && !parked_[k]) ++k;
    if (k == parked_.size()) throw;
    const Node& node = *plan_.early[k].info.node;
    const std::string text = error.code() == Code::kCancelled
                                 ? cat(parked_[k]->cancelled(), ": ", error.message())
                                 : error.message();
    throw_error(error.code(), cat(node.op(), " '", node.name(), "': ", text), node.where(), node.name());
  }
}

std::shared_ptr<Waker> Execution::waker() { return parking_; }

}  // namespace runnel
