// Pass 5: a bound kernel, or a step of the runtime's own, for every node that does something in a run.
#include "graph/runtime/plan_bind.h"

#include "graph/runtime/binder.h"
#include "graph/runtime/steps.h"

namespace runnel {

NodeBinder::NodeBinder(Engine& engine, const WorkGraph& work, Plan& plan, const Placement& placement)
    : engine_(engine), work_(work), plan_(plan), placement_(placement) {
  number_flags();
}

std::vector<BoundKernel> NodeBinder::bind_all() {
  std::vector<BoundKernel> out(work_.nodes.size());
  for (const int i : work_.order) out[static_cast<std::size_t>(i)] = guarded(i);
  return out;
}

void NodeBinder::number_flags() {
  flag_of_.assign(work_.nodes.size(), -1);
  switch_flags_.assign(work_.nodes.size(), -1);
  for (const int i : work_.order) {
    if (work_.at(i).may_be_dead) flag_of_[static_cast<std::size_t>(i)] = plan_.flags++;
    if (work_.at(i).kind == Kind::kSwitch) {
      switch_flags_[static_cast<std::size_t>(i)] = plan_.flags;
      plan_.flags += 2;
    }
  }
}

int NodeBinder::flag_of(const ValueId& id) const {
  const auto i = static_cast<std::size_t>(id.node);
  return switch_flags_[i] >= 0 ? switch_flags_[i] + id.output : flag_of_[i];
}

void NodeBinder::add_flag(const ValueId& id, std::vector<int>& flags) const {
  if (const int flag = flag_of(id); flag >= 0) flags.push_back(flag);
}

std::vector<int> NodeBinder::dead_if(const WorkNode& node) const {
  std::vector<int> flags;
  for (const ValueId& id : node.inputs) add_flag(id, flags);
  for (const int b : node.before)
    if (flag_of_[static_cast<std::size_t>(b)] >= 0) flags.push_back(flag_of_[static_cast<std::size_t>(b)]);
  return flags;
}

BoundKernel NodeBinder::guarded(int i) {
  const WorkNode& node = work_.at(i);
  BoundKernel kernel = node.live ? inner(i) : BoundKernel();
  if (!node.may_be_dead || node.kind == Kind::kMerge || node.kind == Kind::kSwitch) return kernel;
  GuardPlan guard;
  guard.dead_if = dead_if(node);
  guard.flag = flag_of_[static_cast<std::size_t>(i)];
  guard.node = node.node;
  guard.inner = kernel;
  if (kernel) guard.variables = guarded_variables(node);
  return guard_step(std::move(guard));
}

// Variables whose value this node reads, to be checked when it turns out to be alive.
std::vector<int> NodeBinder::guarded_variables(const WorkNode& node) const {
  std::vector<int> out;
  for (std::size_t k = 0; k < node.inputs.size(); ++k) {
    if (work_.value(node.inputs[k]).variable < 0) continue;
    const std::optional<Access> access =
        node.kind == Kind::kKernel ? access_of(*node.node, static_cast<int>(k)) : std::nullopt;
    if (access != Access::kOverwrites && access != Access::kAsks) out.push_back(slot_of(node.inputs[k]));
  }
  return out;
}

BoundKernel NodeBinder::inner(int i) {
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

BoundKernel NodeBinder::view_of(int i) const {
  const WorkNode& node = work_.at(i);
  const int from = slot_of(node.inputs[0]), to = slot_of({i, 0});
  const Slot& slot = plan_.slots[static_cast<std::size_t>(to)];
  if (slot.root == Root::kVariable && node.outputs[0].variable >= 0) return {};
  if (node.must_copy) return copy_step(from, to);
  // A view whose shape is told late is pointed while the step runs; a variable's shape is its own.
  return slot.root == Root::kOwn && slot.root_slot == to && !slot.shape.is_known() ? alias_step(from, to)
                                                                                   : BoundKernel();
}

BoundKernel NodeBinder::switch_of(int i) const {
  const WorkNode& node = work_.at(i);
  SwitchPlan plan;
  plan.data = slot_of(node.inputs[0]);
  plan.predicate = slot_of(node.inputs[1]);
  plan.dead_if = dead_if(node);
  for (const int side : {0, 1}) {
    plan.outputs[side] = slot_of({i, side});
    plan.flags[side] = switch_flags_[static_cast<std::size_t>(i)] + side;
  }
  const Slot& out = plan_.slots[static_cast<std::size_t>(plan.outputs[0])];
  plan.late = out.root == Root::kOwn && out.root_slot == plan.outputs[0];
  return switch_step(plan);
}

BoundKernel NodeBinder::merge_of(int i) const {
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

// What makes the handles among the inputs: whatever stands behind aliases and switches.
std::vector<const Node*> NodeBinder::makers_of(const WorkNode& node) const {
  std::vector<const Node*> out;
  for (ValueId id : node.inputs) {
    const WorkNode* from = &work_.at(id.node);
    while ((from->kind == Kind::kView || from->kind == Kind::kSwitch) && !from->inputs.empty())
      from = &work_.at(from->inputs[0].node);
    out.push_back(from->node);
  }
  return out;
}

BoundKernel NodeBinder::kernel(int i) {
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
  request.node_state = [this, &node](const auto& make) { return engine_.state_of(*node.node, make); };
  request.makers = makers_of(node);
  request.resource = [this](const ResourceRequest& r) { return engine_.resource_of(r); };
  request.files = engine_.options().file_system;
  return Binder::bind(std::move(request));
}

BoundKernel NodeBinder::late(int i) {
  const WorkNode& node = work_.at(i);
  LatePlan plan;
  plan.node = node.node;
  plan.engine = &engine_;
  plan.cache = plan_.late_steps++;
  plan.needs_value.assign(node.inputs.size(), false);
  for (const std::string& arg : node.node->spec().traits.bind_values)
    for (int k = 0; k < node.node->input_count(arg); ++k)
      plan.needs_value[static_cast<std::size_t>(node.node->input_position(arg, k))] = true;
  plan.makers = makers_of(node);
  plan.may_park = node.node->spec().traits.may_park;
  for (const ValueId& id : node.inputs) plan.inputs.push_back(slot_of(id));
  for (std::size_t k = 0; k < node.outputs.size(); ++k) {
    plan.outputs.push_back(slot_of({i, static_cast<int>(k)}));
    plan.output_types.push_back(plan_.slots[static_cast<std::size_t>(plan.outputs.back())].dtype);
    plan.wanted.push_back(node.outputs[k].wanted);
  }
  return late_step(std::move(plan));
}

}  // namespace runnel
