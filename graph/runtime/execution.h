// One run of a plan at a time: the table of pointers, the arena behind it, and what the run has told so far.
#pragma once

#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "graph/kernel.h"
#include "graph/runtime/plan.h"
#include "graph/runtime/run_metadata.h"
#include "graph/runtime/session.h"

namespace runnel {

// Variables have another shape than the plan was made for: the caller makes a new plan.
struct PlanOutgrown {};

class StepTrace;

// Within a catch block: rethrows the exception as an Error with the step's node.
[[noreturn]] void rethrow_at(const StepInfo& info);

class Execution final : public Context {
 public:
  explicit Execution(const Plan& plan);
  ~Execution();

  // Runs the plan; results go to `out`, one a fetch. Requires: feeds in the plan's order, checked.
  void run(std::span<const Feed> feeds, const RunOptions& options, Tensor* out);

  Tensor tensor(int slot) override;
  void set_output(int slot, Tensor value) override;
  void set_dead(int flag) override { dead_[static_cast<std::size_t>(flag)] = 1; }
  bool is_dead(int flag) const override { return dead_[static_cast<std::size_t>(flag)] != 0; }
  void assign(int slot, Tensor value) override;
  bool initialized(int slot) const override;
  std::shared_ptr<Waker> waker() override;
  std::shared_ptr<Parked>& parked() override { return parked_[trying_]; }
  bool cancelled() const override;

  // For steps of the plan itself (steps.cc).
  void set_alive(int flag) { dead_[static_cast<std::size_t>(flag)] = 0; }
  Shape shape_of(int slot) const;
  // Makes `slot` share the memory of `from`, under `shape`.
  void alias(int slot, int from, const Shape& shape);
  // Room for a late output; keeps the memory of earlier steps where it is large enough.
  void* make_room(int slot, const Shape& shape) override;
  void require_initialized(int slot, const Node* reader) const;
  void throw_if_stopped() const;
  // Calls body(0) to body(n - 1) on as many threads as independent branches may have.
  void run_chains(int n, const std::function<void(int)>& body);
  const Plan& plan() const { return plan_; }

  // A step of a chain, with a note if the run is recorded.
  void run_step(const Step& step, const StepInfo& info) {
    if (trace_) return run_recorded(step, info);
    step.run(step.closure, *this);
  }
  OutputStats output_stats(int slot) const;

  // What a late step remembers: its kernel bound for some shapes and values, of the last few that it met.
  struct LateBinding {
    std::vector<Shape> shapes;
    std::vector<Tensor> values;
    std::vector<Shape> outputs;
    BoundKernel kernel;
    bool view = false;
  };
  struct LateCache {
    std::vector<LateBinding> bindings;
    std::size_t last = 0;    // the one used last
    std::size_t oldest = 0;  // the next to be replaced, once there are as many as are kept
  };
  LateCache& late_cache(int k) { return late_[static_cast<std::size_t>(k)]; }

 private:
  class Parking;
  class Known;
  void parallel_ranges(std::int64_t n, std::int64_t grain,
                       const std::function<void(std::int64_t, std::int64_t)>& body) override;
  void* memory_of(const Slot& slot) const;
  Tensor held(int slot, const Shape& shape) const;
  Tensor handed(int slot, const Shape& shape);
  void take_feeds(std::span<const Feed> feeds);
  void renew_own();
  void run_early();
  bool run_early_step(const EarlyStep& step);
  void check_outgrown();
  void stop_parked(const std::optional<std::string>& no_waiting);
  [[noreturn]] void refuse_again() const;
  void lock_variables();
  void unlock_variables(std::size_t count);
  void look_at_variables();
  void look_at(const PlannedVariable& variable);
  void own(const PlannedVariable& variable);
  void run_steps();
  // The same with a StepTrace (step_trace.cc).
  void run_recorded(std::span<const Feed> feeds, const RunOptions& options, Tensor* out);
  void run_recorded(const Step& step, const StepInfo& info);
  void run_recorded_steps();
  void hand_out(Tensor* out);
  void drop_aliases();
  const PlannedVariable& variable_at(int slot) const;
  void point(const PlannedVariable& variable);

  const Plan& plan_;
  Engine& engine_;
  std::vector<void*> pointers_;
  std::vector<Tensor> tensors_;  // memory of kOwn slots, late values
  std::span<const Feed> feeds_;  // of the step that runs
  std::vector<Shape> shapes_;    // of slots whose shape is told late
  std::vector<char> dead_;
  std::vector<LateCache> late_;
  // Slots that hold another's memory until the step ends, with their own.
  std::vector<std::pair<int, Tensor>> aliased_;
  void* arena_ = nullptr;
  std::uint64_t epoch_ = 0;
  const RunOptions* options_ = nullptr;
  std::chrono::steady_clock::time_point deadline_;
  bool has_deadline_ = false;
  std::shared_ptr<Parking> parking_;
  std::vector<std::shared_ptr<Parked>> parked_;  // by early step
  std::size_t trying_ = 0;                       // the early step that runs
  StepTrace* trace_ = nullptr;                   // of a run that is recorded
};

}  // namespace runnel
