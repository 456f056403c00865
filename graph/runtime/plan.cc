// Making a plan: the passes in order, then binding each node that is left.
#include "graph/runtime/plan.h"

#include <algorithm>
#include <sstream>

#include "graph/error.h"
#include "graph/log.h"
#include "graph/runtime/binder.h"
#include "graph/runtime/execution.h"
#include "graph/runtime/place.h"
#include "graph/runtime/plan_text.h"
#include "graph/runtime/steps.h"

namespace runnel {
namespace {

// Kernels over this many elements look first whether the step was stopped.
constexpr std::int64_t kWorthAsking = 1 << 20;

class PlanMaker {
 public:
  PlanMaker(Engine& engine, const Signature& signature, std::span<const Shape> feed_shapes)
      : engine_(engine), signature_(signature), feed_shapes_(feed_shapes), plan_(std::make_shared<Plan>()) {}

  std::shared_ptr<Plan> run() {
    plan_->engine = &engine_;
    plan_->feed_shapes.assign(feed_shapes_.begin(), feed_shapes_.end());
    plan_->dynamic = std::ranges::any_of(feed_shapes_, [](const Shape& s) { return !s.is_known(); });
    work_ = prune(signature_, [this](const Node& node) { return engine_.slot_of(node); });
    order(work_);
    take_variable_shapes();
    mark_parking();
    resolve(work_, feed_shapes_);
    placement_ = place(work_, *plan_);
    number_flags();
    describe_variables();
    for (const int i : work_.order) bind(i);
    link_early();
    list_fetches();
    plan_->log = work_.log;
    return plan_;
  }

 private:
  // Values may change between now and the run; executions look again (PlannedVariable::assumed).
  void take_variable_shapes() {
    work_.variable_shapes.assign(work_.variables.size(), Shape::unknown());
    for (const WorkNode& node : work_.nodes)
      if (node.kind == Kind::kVariable && !node.outputs.empty() && node.outputs[0].variable >= 0)
        work_.variable_shapes[static_cast<std::size_t>(node.outputs[0].variable)] = node.node->shape("shape");
    for (std::size_t k = 0; k < work_.variables.size(); ++k) {
      VariableSlot& slot = *work_.variables[k];
      slot.lock(false, engine_.lock_room(), [] {});
      if (slot.buffer) work_.variable_shapes[k] = slot.shape;
      slot.unlock(false, engine_.lock_room());
      if (!work_.variable_shapes[k].is_known()) work_.variable_shapes[k] = Shape::unknown();
    }
  }

  // What may park, and all that it waits for, runs early.
  void mark_parking() {
    for (auto at = work_.order.rbegin(); at != work_.order.rend(); ++at) {
      WorkNode& node = work_.at(*at);
      if (node.node && node.live && node.node->spec().traits.may_park) node.parks = true;
      if (!node.parks) continue;
      if (node.may_be_dead)
        throw Unimplemented("an op that may wait cannot stand behind a switch yet", node.node->where(),
                            node.node->name());
      for (const ValueId& id : node.inputs) work_.at(id.node).parks = true;
      for (const int b : node.before) work_.at(b).parks = true;
    }
    for (WorkNode& node :
         work_.nodes)  // locks do not outlive the early step, so nothing may go on reading there
      if (node.parks && node.kind == Kind::kKernel && !node.inputs.empty() &&
          access_of(*node.node, 0) == Access::kReads)
        node.must_copy = true;
  }

  void number_flags() {
    flag_of_.assign(work_.nodes.size(), -1);
    switch_flags_.assign(work_.nodes.size(), -1);
    for (const int i : work_.order) {
      if (work_.at(i).may_be_dead) flag_of_[static_cast<std::size_t>(i)] = plan_->flags++;
      if (work_.at(i).kind == Kind::kSwitch) {
        switch_flags_[static_cast<std::size_t>(i)] = plan_->flags;
        plan_->flags += 2;
      }
    }
  }

  void add_flag(const ValueId& id, std::vector<int>& flags) const {
    const auto i = static_cast<std::size_t>(id.node);
    if (switch_flags_[i] >= 0) {
      flags.push_back(switch_flags_[i] + id.output);
    } else if (flag_of_[i] >= 0) {
      flags.push_back(flag_of_[i]);
    }
  }

  std::vector<int> dead_if(const WorkNode& node) const {
    std::vector<int> flags;
    for (const ValueId& id : node.inputs) add_flag(id, flags);
    for (const int b : node.before)
      if (flag_of_[static_cast<std::size_t>(b)] >= 0) flags.push_back(flag_of_[static_cast<std::size_t>(b)]);
    return flags;
  }

  int slot_of(const ValueId& id) const {
    return placement_.slot_of[static_cast<std::size_t>(id.node)][static_cast<std::size_t>(id.output)];
  }
  PlannedVariable& variable(int work_variable) {
    return plan_->variables[static_cast<std::size_t>(
        placement_.variable_at[static_cast<std::size_t>(work_variable)])];
  }

  // Which variables are written, and which must have a value when the step begins.
  void describe_variables() {
    std::vector<char> assigned(work_.variables.size(), 0);
    for (const int i : work_.order) {
      const WorkNode& node = work_.at(i);
      if (node.kind == Kind::kNothing) continue;
      for (std::size_t k = 0; k < node.inputs.size(); ++k) {
        const int v = work_.value(node.inputs[k]).variable;
        if (v < 0 || (!node.outputs.empty() && node.kind != Kind::kKernel && node.outputs[0].variable == v))
          continue;
        const Access access = node.node && node.kind == Kind::kKernel
                                  ? access_of(*node.node, static_cast<int>(k)).value_or(Access::kReads)
                                  : Access::kReads;
        note_access(node, variable(v), access, assigned[static_cast<std::size_t>(v)]);
      }
    }
    for (const ValueId& id : work_.fetches) {
      if (id.node < 0 || work_.value(id).variable < 0 ||
          assigned[static_cast<std::size_t>(work_.value(id).variable)])
        continue;
      variable(work_.value(id).variable).needs_value = true;
      variable(work_.value(id).variable).shape_matters = true;
    }
  }

  static void note_access(const WorkNode& node, PlannedVariable& variable, Access access, char& assigned) {
    variable.exclusive |= writes(access);
    variable.updated |= access == Access::kUpdates;
    if (access == Access::kOverwrites && !node.may_be_dead) assigned = 1;
    if (access == Access::kOverwrites || access == Access::kAsks || assigned) return;
    variable.shape_matters = true;
    if (node.may_be_dead || variable.needs_value) return;
    variable.needs_value = true;
    variable.reader = node.node;
  }

  void bind(int i) {
    const WorkNode& node = work_.at(i);
    BoundKernel kernel = node.live ? inner(i) : BoundKernel();
    if (node.may_be_dead && node.kind != Kind::kMerge && node.kind != Kind::kSwitch) {
      GuardPlan guard;
      guard.dead_if = dead_if(node);
      guard.flag = flag_of_[static_cast<std::size_t>(i)];
      guard.node = node.node;
      guard.inner = kernel;
      if (kernel) guard.variables = guarded_variables(node);
      kernel = guard_step(std::move(guard));
    }
    if (!kernel) return;
    if (node.parks) return add_early(i, std::move(kernel));
    if (expensive(node)) add_step({nullptr, check_step(), ""});
    add_step({node.node, std::move(kernel), step_text(work_, *plan_, placement_, i)});
  }

  // Variables whose value this node reads, to be checked when it turns out to be alive.
  std::vector<int> guarded_variables(const WorkNode& node) const {
    std::vector<int> out;
    for (std::size_t k = 0; k < node.inputs.size(); ++k) {
      if (work_.value(node.inputs[k]).variable < 0) continue;
      const std::optional<Access> access =
          node.kind == Kind::kKernel ? access_of(*node.node, static_cast<int>(k)) : std::nullopt;
      if (access != Access::kOverwrites && access != Access::kAsks) out.push_back(slot_of(node.inputs[k]));
    }
    return out;
  }

  BoundKernel inner(int i) {
    const WorkNode& node = work_.at(i);
    switch (node.kind) {
      case Kind::kFed:
      case Kind::kConstant:
      case Kind::kVariable:
      case Kind::kNothing: return {};
      case Kind::kCopy: return copy_step(slot_of(node.inputs[0]), slot_of({i, 0}));
      case Kind::kView: return view_of(i);
      case Kind::kSwitch: return switch_of(i);
      case Kind::kMerge: return merge_of(i);
      case Kind::kKernel: return node.late ? late(i) : kernel(i);
    }
    return {};
  }

  BoundKernel view_of(int i) const {
    const WorkNode& node = work_.at(i);
    const int from = slot_of(node.inputs[0]), to = slot_of({i, 0});
    const Slot& slot = plan_->slots[static_cast<std::size_t>(to)];
    if (slot.root == Root::kVariable && node.outputs[0].variable >= 0) return {};
    if (node.must_copy) return copy_step(from, to);
    // A view whose shape is told late is pointed while the step runs; a variable's shape is its own.
    return slot.root == Root::kOwn && slot.root_slot == to && !slot.shape.is_known() ? alias_step(from, to)
                                                                                     : BoundKernel();
  }

  BoundKernel switch_of(int i) const {
    const WorkNode& node = work_.at(i);
    SwitchPlan plan;
    plan.data = slot_of(node.inputs[0]);
    plan.predicate = slot_of(node.inputs[1]);
    plan.dead_if = dead_if(node);
    for (const int side : {0, 1}) {
      plan.outputs[side] = slot_of({i, side});
      plan.flags[side] = switch_flags_[static_cast<std::size_t>(i)] + side;
    }
    const Slot& out = plan_->slots[static_cast<std::size_t>(plan.outputs[0])];
    plan.late = out.root == Root::kOwn && out.root_slot == plan.outputs[0];
    return switch_step(plan);
  }

  BoundKernel merge_of(int i) const {
    const WorkNode& node = work_.at(i);
    MergePlan plan;
    for (const ValueId& id : node.inputs) {
      MergePlan::Input input{slot_of(id), {}};
      add_flag(id, input.flags);
      plan.inputs.push_back(std::move(input));
    }
    plan.output = slot_of({i, 0});
    plan.index = slot_of({i, 1});
    plan.flag = flag_of_[static_cast<std::size_t>(i)];
    return merge_step(std::move(plan));
  }

  DType dtype_of(const ValueId& id) const {
    return plan_->slots[static_cast<std::size_t>(slot_of(id))].dtype;
  }

  std::function<std::shared_ptr<NodeState>(const std::function<std::shared_ptr<NodeState>()>&)> state_maker(
      const Node& node) {
    return [&engine = engine_, &node](const auto& make) { return engine.state_of(node, make); };
  }

  BoundKernel kernel(int i) {
    const WorkNode& node = work_.at(i);
    BindRequest request;
    request.node = node.node;
    for (std::size_t k = 0; k < node.inputs.size(); ++k) {
      const ValueId id = node.inputs[k];
      request.inputs.push_back({dtype_of(id), node.input_shapes[k]});
      request.values.push_back(work_.value(id).constant.value_or(Tensor()));
      request.input_slots.push_back(slot_of(id));
    }
    for (std::size_t k = 0; k < node.outputs.size(); ++k) {
      request.outputs.push_back({dtype_of({i, static_cast<int>(k)}), node.outputs[k].shape});
      request.output_slots.push_back(slot_of({i, static_cast<int>(k)}));
      request.wanted.push_back(node.outputs[k].wanted);
    }
    request.node_state = state_maker(*node.node);
    request.files = engine_.options().file_system;
    return Binder::bind(std::move(request));
  }

  BoundKernel late(int i) {
    const WorkNode& node = work_.at(i);
    LatePlan plan;
    plan.node = node.node;
    plan.engine = &engine_;
    plan.cache = plan_->late_steps++;
    plan.needs_value.assign(node.inputs.size(), false);
    for (const std::string& arg : node.node->spec().traits.bind_values)
      for (int k = 0; k < node.node->input_count(arg); ++k)
        plan.needs_value[static_cast<std::size_t>(node.node->input_position(arg, k))] = true;
    for (const ValueId& id : node.inputs) plan.inputs.push_back(slot_of(id));
    for (std::size_t k = 0; k < node.outputs.size(); ++k) {
      plan.outputs.push_back(slot_of({i, static_cast<int>(k)}));
      plan.output_types.push_back(plan_->slots[static_cast<std::size_t>(plan.outputs.back())].dtype);
      plan.wanted.push_back(node.outputs[k].wanted);
    }
    return late_step(std::move(plan));
  }

  bool expensive(const WorkNode& node) const {
    std::int64_t elements = 0;
    for (const ValueId& id : node.inputs) {
      const Shape& shape = work_.value(id).shape;
      if (shape.is_known()) elements += shape.elements();
    }
    return node.kind == Kind::kKernel && elements > kWorthAsking;
  }

  void add_step(StepInfo info) {
    plan_->steps.push_back({info.kernel.run(), info.kernel.closure()});
    plan_->infos.push_back(std::move(info));
  }

  void add_early(int i, BoundKernel kernel) {
    EarlyStep step;
    step.run = kernel.run();
    step.try_run = kernel.try_run();
    step.closure = kernel.closure();
    for (const ValueId& id : work_.at(i).inputs) {
      const int v = work_.value(id).variable;
      if (v >= 0) step.variables.push_back(placement_.variable_at[static_cast<std::size_t>(v)]);
    }
    std::ranges::sort(step.variables);
    step.variables.erase(std::unique(step.variables.begin(), step.variables.end()), step.variables.end());
    step.info = {work_.at(i).node, std::move(kernel), step_text(work_, *plan_, placement_, i)};
    early_nodes_.push_back(i);
    plan_->early.push_back(std::move(step));
  }

  // An early step waits for the early steps that come before it by data or control, through views and the
  // like.
  void link_early() {
    for (std::size_t at = 0; at < early_nodes_.size(); ++at) {
      std::vector<int> todo{early_nodes_[at]};
      std::vector<char> seen(work_.nodes.size(), 0);
      while (!todo.empty()) {
        const int i = todo.back();
        todo.pop_back();
        const auto visit = [&](int from) {
          if (std::exchange(seen[static_cast<std::size_t>(from)], char{1})) return;
          const auto found = std::ranges::find(early_nodes_, from);
          if (found != early_nodes_.end()) {
            plan_->early[at].after.push_back(static_cast<int>(found - early_nodes_.begin()));
          } else {
            todo.push_back(from);
          }
        };
        for (const ValueId& id : work_.at(i).inputs) visit(id.node);
        for (const int b : work_.at(i).before) visit(b);
      }
    }
  }

  void list_fetches() {
    for (std::size_t k = 0; k < work_.fetches.size(); ++k) {
      Plan::Fetched fetched;
      const ValueId id = work_.fetches[k];
      if (id.node >= 0) {
        fetched.slot = slot_of(id);
        fetched.name = signature_.fetches[k].output().name();
        add_flag(id, fetched.flags);
      }
      plan_->fetches.push_back(std::move(fetched));
    }
  }

  Engine& engine_;
  const Signature& signature_;
  std::span<const Shape> feed_shapes_;
  std::shared_ptr<Plan> plan_;
  WorkGraph work_;
  Placement placement_;
  std::vector<int> flag_of_, switch_flags_, early_nodes_;
};

}  // namespace

std::shared_ptr<Plan> Plan::make(Engine& engine, const Signature& signature,
                                 std::span<const Shape> feed_shapes) {
  std::shared_ptr<Plan> plan = PlanMaker(engine, signature, feed_shapes).run();
  engine.counters.plans_made.fetch_add(1, std::memory_order_relaxed);
  engine.counters.arena_bytes.store(plan->arena_bytes, std::memory_order_relaxed);
  if (engine.options().log_plans) {
    std::istringstream lines(plan->text());
    for (std::string line; std::getline(lines, line);) log_info(line);
  }
  return plan;
}

bool Plan::fits(std::span<const Feed> feeds) const { return dynamic || same_shapes(feeds); }

bool Plan::same_shapes(std::span<const Feed> feeds) const {
  for (std::size_t i = 0; i < feeds.size(); ++i)
    if (!(feeds[i].value.shape() == feed_shapes[i])) return false;
  return true;
}

}  // namespace runnel
