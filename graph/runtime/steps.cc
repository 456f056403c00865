// Steps that the runtime itself runs. Each is a closure over slots and flags, as kernels are.
#include "graph/runtime/steps.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "graph/error.h"
#include "graph/runtime/binder.h"
#include "graph/runtime/execution.h"

namespace runnel {
namespace {

// Bindings that a late step keeps, as many as the shapes for which a request gets plans of its own.
constexpr std::size_t kMostBindings = 8;

Execution& execution(Context& c) { return static_cast<Execution&>(c); }

bool any_dead(const Execution& e, const std::vector<int>& flags) {
  return std::ranges::any_of(flags, [&](int flag) { return e.is_dead(flag); });
}

// Shapes as they are in this step.
class LateShapes final : public ShapeContext {
 public:
  LateShapes(const Node& node, const std::vector<Shape>& shapes, const std::vector<Tensor>& values)
      : ShapeContext(node), shapes_(shapes), values_(values) {}
  using ShapeContext::constant;
  using ShapeContext::input;
  using ShapeContext::input_as_shape;
  Shape input(int i) const override {
    return node_->input(i).dtype() == DType::kResource ? Shape{} : shapes_[static_cast<std::size_t>(i)];
  }
  Shape variable_shape(int i) const override { return shapes_[static_cast<std::size_t>(i)]; }
  std::optional<Tensor> constant(int i) const override {
    const Tensor& value = values_[static_cast<std::size_t>(i)];
    return value ? std::optional<Tensor>(value) : std::nullopt;
  }
  std::optional<Shape> input_as_shape(int i) const override {
    const std::optional<Tensor> value = constant(i);
    if (!value || value->shape().rank() != 1) return std::nullopt;
    const std::vector<std::int64_t> dims = integers(*value);
    if (std::ranges::any_of(dims, [](std::int64_t d) { return d < kUnknown; })) return std::nullopt;
    return Shape(dims);
  }

 private:
  const std::vector<Shape>& shapes_;
  const std::vector<Tensor>& values_;
};

// A tensor whose memory nobody else writes: bindings keep values over steps.
Tensor own_copy(const Tensor& tensor) {
  Tensor copy(tensor.dtype(), tensor.shape());
  if (tensor.dtype() == DType::kString) {
    std::ranges::copy(tensor.values<std::string>(), copy.mutable_values<std::string>().begin());
  } else if (tensor.bytes() > 0) {
    std::memcpy(copy.mutable_data(), tensor.data(), tensor.bytes());
  }
  return copy;
}

void copy_value(Execution& e, int from, int to) {
  const Slot& target = e.plan().slots[static_cast<std::size_t>(to)];
  const Shape shape = target.shape.is_known() ? target.shape : e.shape_of(from);
  if (!target.shape.is_known()) e.make_room(to, shape);
  const std::int64_t count = shape.elements();
  if (count == 0) return;
  if (target.dtype == DType::kString) {
    std::copy_n(e[In<std::string>{from}], count, e[Out<std::string>{to}]);
  } else {
    const std::size_t bytes = static_cast<std::size_t>(count) * size_of(target.dtype);
    std::memcpy(e[Out<std::byte>{to}], e[In<std::byte>{from}], bytes);
  }
}

void bind_late(const LatePlan& plan, Execution& e, Execution::LateBinding& binding) {
  const LateShapes context(*plan.node, binding.shapes, binding.values);
  const OpSpec& spec = plan.node->spec();
  binding.outputs = spec.shape(context).list();
  binding.view = spec.traits.view && plan.outputs.size() == 1 && binding.outputs[0].is_known() &&
                 spec.traits.view(context);
  if (binding.view) return;
  BindRequest request;
  request.node = plan.node;
  for (std::size_t i = 0; i < plan.inputs.size(); ++i)
    request.inputs.push_back(
        {e.plan().slots[static_cast<std::size_t>(plan.inputs[i])].dtype, binding.shapes[i]});
  for (std::size_t k = 0; k < plan.outputs.size(); ++k)
    request.outputs.push_back({plan.output_types[k], binding.outputs[k]});
  request.values = binding.values;
  request.input_slots = plan.inputs;
  request.output_slots = plan.outputs;
  request.wanted = plan.wanted;
  request.node_state = [&plan](const auto& make) { return plan.engine->state_of(*plan.node, make); };
  request.makers = plan.makers;
  request.resource = [&plan](const ResourceRequest& r) { return plan.engine->resource_of(r); };
  request.files = plan.engine->options().file_system;
  binding.kernel = Binder::bind(std::move(request));
  plan.engine->counters.late_bindings.fetch_add(1, std::memory_order_relaxed);
}

// Whether the input has this value, told without taking memory.
bool has_value(const Execution& e, int slot, const Tensor& value) {
  if (value.elements() == 0) return true;
  if (value.dtype() == DType::kString)
    return std::ranges::equal(value.values<std::string>(),
                              std::span(e[In<std::string>{slot}], value.values<std::string>().size()));
  return std::memcmp(e[In<std::byte>{slot}], value.data(), value.bytes()) == 0;
}

bool serves(const LatePlan& plan, const Execution& e, const Execution::LateBinding& binding) {
  for (std::size_t i = 0; i < plan.inputs.size(); ++i)
    if (!(binding.shapes[i] == e.shape_of(plan.inputs[i]))) return false;
  for (std::size_t i = 0; i < plan.inputs.size(); ++i)
    if (plan.needs_value[i] && !has_value(e, plan.inputs[i], binding.values[i])) return false;
  return true;
}

Execution::LateBinding new_binding(const LatePlan& plan, Execution& e) {
  Execution::LateBinding binding;
  binding.values.resize(plan.inputs.size());
  for (std::size_t i = 0; i < plan.inputs.size(); ++i) {
    binding.shapes.push_back(e.shape_of(plan.inputs[i]));
    if (plan.needs_value[i]) binding.values[i] = own_copy(e.tensor(plan.inputs[i]));
  }
  bind_late(plan, e, binding);
  return binding;
}

// The binding for the inputs as they are: of those kept, the last one first, or a new one in the place of the
// oldest.
const Execution::LateBinding& binding_for(const LatePlan& plan, Execution& e) {
  Execution::LateCache& cache = e.late_cache(plan.cache);
  std::vector<Execution::LateBinding>& kept = cache.bindings;
  for (std::size_t tried = 0; tried < kept.size(); ++tried) {
    const std::size_t k = (cache.last + tried) % kept.size();
    if (serves(plan, e, kept[k])) return kept[cache.last = k];
  }
  Execution::LateBinding made = new_binding(plan, e);
  if (kept.size() < kMostBindings) {
    cache.last = kept.size();
    kept.push_back(std::move(made));
  } else {
    cache.last = std::exchange(cache.oldest, (cache.oldest + 1) % kMostBindings);
    kept[cache.last] = std::move(made);
  }
  return kept[cache.last];
}

// False when it parked.
bool run_bound(const BoundKernel& kernel, Context& c) {
  if (kernel.try_run()) return kernel.try_run()(kernel.closure(), c);
  kernel.run()(kernel.closure(), c);
  return true;
}

bool run_late(const LatePlan& plan, Execution& e) {
  const Execution::LateBinding& binding = binding_for(plan, e);
  if (binding.view) {
    e.alias(plan.outputs[0], plan.inputs[0], binding.outputs[0]);
    return true;
  }
  for (std::size_t k = 0; k < plan.outputs.size(); ++k)
    if (binding.outputs[k].is_known()) e.make_room(plan.outputs[k], binding.outputs[k]);
  return run_bound(binding.kernel, e);
}

bool run_guarded(const GuardPlan& plan, Execution& e) {
  if (any_dead(e, plan.dead_if)) {
    e.set_dead(plan.flag);
    return true;
  }
  e.set_alive(plan.flag);
  for (const int slot : plan.variables) e.require_initialized(slot, plan.node);
  return !plan.inner || run_bound(plan.inner, e);
}

}  // namespace

BoundKernel copy_step(int from, int to) {
  return BoundKernel::make([from, to](Context& c) { copy_value(execution(c), from, to); });
}

BoundKernel alias_step(int from, int to) {
  return BoundKernel::make(
      [from, to](Context& c) { execution(c).alias(to, from, execution(c).shape_of(from)); });
}

BoundKernel switch_step(SwitchPlan plan) {
  return BoundKernel::make([plan](Context& c) {
    Execution& e = execution(c);
    const bool dead = any_dead(e, plan.dead_if);
    const int taken = !dead && *c[In<bool>{plan.predicate}] ? 1 : 0;
    for (const int side : {0, 1}) {
      if (dead || side != taken) {
        e.set_dead(plan.flags[side]);
        continue;
      }
      e.set_alive(plan.flags[side]);
      if (plan.late) e.alias(plan.outputs[side], plan.data, e.shape_of(plan.data));
    }
  });
}

BoundKernel merge_step(MergePlan plan) {
  return BoundKernel::make([plan](Context& c) {
    Execution& e = execution(c);
    if (plan.flag >= 0) e.set_dead(plan.flag);
    for (std::size_t i = 0; i < plan.inputs.size(); ++i) {
      if (any_dead(e, plan.inputs[i].flags)) continue;
      if (plan.flag >= 0) e.set_alive(plan.flag);
      if (e.plan().slots[static_cast<std::size_t>(plan.output)].root != Root::kVariable)
        copy_value(e, plan.inputs[i].slot, plan.output);
      *c[Out<std::int32_t>{plan.index}] = static_cast<std::int32_t>(i);
      return;
    }
    if (plan.flag < 0) throw Internal("no input of a merge is alive");
  });
}

BoundKernel guard_step(GuardPlan plan) {
  if (plan.inner.try_run())
    return BoundKernel::make([plan](Context& c) -> bool { return run_guarded(plan, execution(c)); });
  return BoundKernel::make([plan](Context& c) -> void { run_guarded(plan, execution(c)); });
}

BoundKernel late_step(LatePlan plan) {
  if (plan.may_park)
    return BoundKernel::make([plan](Context& c) -> bool { return run_late(plan, execution(c)); });
  return BoundKernel::make([plan](Context& c) -> void { run_late(plan, execution(c)); });
}

BoundKernel check_step() {
  return BoundKernel::make([](Context& c) { execution(c).throw_if_stopped(); });
}

}  // namespace runnel
