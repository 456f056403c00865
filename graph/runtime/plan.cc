// Making a plan: the passes in order, then binding each node that is left.
#include "graph/runtime/plan.h"

#include <algorithm>
#include <optional>
#include <sstream>

#include "graph/error.h"
#include "graph/log.h"
#include "graph/runtime/chains.h"
#include "graph/runtime/execution.h"
#include "graph/runtime/fuse.h"
#include "graph/runtime/place.h"
#include "graph/runtime/plan_bind.h"
#include "graph/runtime/plan_text.h"
#include "graph/runtime/side_by_side.h"
#include "graph/runtime/steps.h"

namespace runnel {
namespace {

// Before kernels that take so many nanoseconds it is asked whether the step was stopped.
constexpr double kWorthAsking = 100000;
// What a kernel takes that does not say: the rate at which one thread adds vectors that lie in its cache.
constexpr double kNanosecondsPerByte = 0.04;

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
    placement_ = make_slots(work_, *plan_);
    describe_variables();
    binder_.emplace(engine_, work_, *plan_, placement_);
    kernels_ = binder_->bind_all();
    const std::vector<Group> groups = find_groups();
    runs_ = fuse(work_, kernels_, groups, placement_, *plan_);
    place_arena(work_, *plan_, placement_, groups, runs_);
    add_steps(groups);
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
      for (const int b : work_.before[static_cast<std::size_t>(*at)]) work_.at(b).parks = true;
    }
    for (WorkNode& node : work_.nodes)
      if (node.parks && shares_variable(node)) node.must_copy = true;
  }

  // Locks do not outlive an early step, so nothing may go on reading a variable's memory behind it.
  bool shares_variable(const WorkNode& node) const {
    if (node.kind != Kind::kKernel || node.inputs.empty() || work_.value(node.inputs[0]).variable < 0)
      return false;
    return access_of(*node.node, 0) == Access::kReads || node.node->spec().traits.view != nullptr;
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

  double nanoseconds(int i) const {
    const BoundKernel& kernel = kernels_[static_cast<std::size_t>(i)];
    if (!kernel || kernel.nanoseconds() > 0) return kernel.nanoseconds();
    const WorkNode& node = work_.at(i);
    double bytes = 0;
    for (std::size_t k = 0; k < node.inputs.size(); ++k) {
      const Shape& shape =
          k < node.input_shapes.size() ? node.input_shapes[k] : work_.value(node.inputs[k]).shape;
      bytes += bytes_of(shape, work_.value(node.inputs[k]).dtype);
    }
    for (const Value& out : node.outputs)
      if (out.variable < 0) bytes += bytes_of(out.shape, out.dtype);
    return kNanosecondsPerByte * bytes;
  }

  static double bytes_of(const Shape& shape, DType type) {
    return shape.is_known() ? static_cast<double>(shape.elements()) * static_cast<double>(size_of(type)) : 0;
  }

  // Puts chains that are worth a thread one behind the other in the order.
  std::vector<Group> find_groups() {
    rank_.assign(work_.nodes.size(), 0);
    for (std::size_t at = 0; at < work_.order.size(); ++at)
      rank_[static_cast<std::size_t>(work_.order[at])] = static_cast<int>(at);
    if (engine_.chain_threads() == 1) return {};
    std::vector<NodeCost> costs(work_.nodes.size());
    for (const int i : work_.order)
      costs[static_cast<std::size_t>(i)] = {bool(kernels_[static_cast<std::size_t>(i)]), nanoseconds(i)};
    return find_chains(work_, costs, engine_.chain_threads());
  }

  void add_steps(const std::vector<Group>& groups) {
    auto group = groups.begin();
    for (int at = 0; at < static_cast<int>(work_.order.size());) {
      if (group != groups.end() && at == group->starts.front()) {
        add_group(*group);
        at = (group++)->starts.back();
      } else {
        at = add_step(at, nullptr);
      }
    }
  }

  void add_group(const Group& group) {
    SideBySide step;
    for (std::size_t k = 0; k + 1 < group.starts.size(); ++k) {
      step.chains.emplace_back();
      for (int at = group.starts[k]; at < group.starts[k + 1];) at = add_step(at, &step.chains.back());
    }
    std::string text = side_by_side_text(step);
    BoundKernel kernel = side_by_side_step(std::move(step));
    plan_->steps.push_back({kernel.run(), kernel.closure()});
    plan_->infos.push_back({nullptr, std::move(kernel), std::move(text), {}});
  }

  // The step at this place of the order, or the fused run that begins there, goes to `chain`, or to the plan
  // itself. Returns the place after it.
  int add_step(int at, std::vector<ChainStep>* chain) {
    const auto run = std::ranges::find(runs_, at, &FusedRun::begin);
    if (run == runs_.end()) {
      add_node(at, chain);
      return at + 1;
    }
    double cost = 0;
    std::string text = "fused:";
    std::vector<StepNode> nodes;
    for (int inner = run->begin; inner < run->end; ++inner) {
      const int i = work_.order[static_cast<std::size_t>(inner)];
      if (!kernels_[static_cast<std::size_t>(i)]) continue;
      cost += nanoseconds(i);
      text += "\n      " + step_text(work_, *plan_, placement_, i);
      nodes.push_back(step_node(i));
    }
    const int i = work_.order[static_cast<std::size_t>(run->begin)];
    if (cost > kWorthAsking) add_step(i, {nullptr, check_step(), "", {}}, chain);
    add_step(i, {work_.at(i).node, std::move(run->kernel), std::move(text), std::move(nodes)}, chain);
    return run->end;
  }

  void add_node(int at, std::vector<ChainStep>* chain) {
    const int i = work_.order[static_cast<std::size_t>(at)];
    BoundKernel& kernel = kernels_[static_cast<std::size_t>(i)];
    if (!kernel) return;
    const bool ask = nanoseconds(i) > kWorthAsking;
    if (work_.at(i).parks) return add_early(i, std::move(kernel));
    if (ask) add_step(i, {nullptr, check_step(), "", {}}, chain);
    add_step(i, info_of(i, std::move(kernel)), chain);
  }

  StepInfo info_of(int i, BoundKernel kernel) const {
    return {work_.at(i).node, std::move(kernel), step_text(work_, *plan_, placement_, i), {step_node(i)}};
  }

  StepNode step_node(int i) const {
    const WorkNode& node = work_.at(i);
    StepNode out{.node = node.node, .copied = "", .flag = binder_->flag_of({i, 0}), .outputs = {}};
    if (!node.node) out.copied = work_.name_of(node.inputs[0].node);
    for (int k = 0; k < static_cast<int>(node.outputs.size()); ++k)
      out.outputs.push_back({slot_of({i, k}), binder_->flag_of({i, k})});
    return out;
  }

  void add_step(int i, StepInfo info, std::vector<ChainStep>* chain) {
    const Step step{info.kernel.run(), info.kernel.closure()};
    ++plan_->kernels;
    if (chain) {
      chain->push_back({step, std::move(info), rank_[static_cast<std::size_t>(i)]});
    } else {
      plan_->steps.push_back(step);
      plan_->infos.push_back(std::move(info));
    }
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
    ++plan_->kernels;
    step.info = info_of(i, std::move(kernel));
    early_nodes_.push_back(i);
    plan_->early.push_back(std::move(step));
  }

  // An early step waits for the early steps that come before it by data, control or the order of variables'
  // uses, through views and the like.
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
        for (const int b : work_.before[static_cast<std::size_t>(i)]) visit(b);
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
        binder_->add_flag(id, fetched.flags);
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
  std::optional<NodeBinder> binder_;
  std::vector<BoundKernel> kernels_;  // by node; empty if it does nothing in a run
  std::vector<int> rank_;             // by node: its place before chains were put one behind the other
  std::vector<FusedRun> runs_;
  std::vector<int> early_nodes_;
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
