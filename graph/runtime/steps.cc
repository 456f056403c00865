// Steps that the runtime itself runs. Each is a closure over slots and flags, as kernels are.
#include "graph/runtime/steps.h"

#include <algorithm>
#include <cstring>

#include "graph/error.h"
#include "graph/runtime/binder.h"
#include "graph/runtime/execution.h"

namespace runnel {
namespace {

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
  if (!target.shape.is_known() || target.dtype == DType::kString)
    return e.set_output(to, own_copy(e.tensor(from)));
  const std::size_t bytes = static_cast<std::size_t>(target.shape.elements()) * size_of(target.dtype);
  if (bytes > 0) std::memcpy(e[Out<std::byte>{to}], e[In<std::byte>{from}], bytes);
}

void bind_late(const LatePlan& plan, Execution& e, Execution::LateCache& cache) {
  const LateShapes context(*plan.node, cache.shapes, cache.values);
  const OpSpec& spec = plan.node->spec();
  cache.outputs = spec.shape(context).list();
  cache.view = spec.traits.view && plan.outputs.size() == 1 && cache.outputs[0].is_known() &&
               spec.traits.view(context);
  if (cache.view) return;
  BindRequest request;
  request.node = plan.node;
  for (std::size_t i = 0; i < plan.inputs.size(); ++i)
    request.inputs.push_back(
        {e.plan().slots[static_cast<std::size_t>(plan.inputs[i])].dtype, cache.shapes[i]});
  for (std::size_t k = 0; k < plan.outputs.size(); ++k)
    request.outputs.push_back({plan.output_types[k], cache.outputs[k]});
  request.values = cache.values;
  request.input_slots = plan.inputs;
  request.output_slots = plan.outputs;
  request.wanted = plan.wanted;
  request.node_state = [&plan](const auto& make) { return plan.engine->state_of(*plan.node, make); };
  request.files = plan.engine->options().file_system;
  cache.kernel = Binder::bind(std::move(request));
  plan.engine->counters.late_bindings.fetch_add(1, std::memory_order_relaxed);
}

bool same_values(const LatePlan& plan, Execution& e, const Execution::LateCache& cache) {
  for (std::size_t i = 0; i < plan.inputs.size(); ++i)
    if (plan.needs_value[i] && !(e.tensor(plan.inputs[i]) == cache.values[i])) return false;
  return true;
}

void run_late(const LatePlan& plan, Execution& e) {
  Execution::LateCache& cache = e.late_cache(plan.cache);
  const std::size_t inputs = plan.inputs.size();
  bool same = (cache.kernel || cache.view) && cache.shapes.size() == inputs;
  for (std::size_t i = 0; same && i < inputs; ++i) same = cache.shapes[i] == e.shape_of(plan.inputs[i]);
  if (!same || !same_values(plan, e, cache)) {
    cache = {};
    cache.shapes.resize(inputs);
    cache.values.resize(inputs);
    for (std::size_t i = 0; i < inputs; ++i) {
      cache.shapes[i] = e.shape_of(plan.inputs[i]);
      if (plan.needs_value[i]) cache.values[i] = own_copy(e.tensor(plan.inputs[i]));
    }
    bind_late(plan, e, cache);
  }
  if (cache.view) return e.alias(plan.outputs[0], plan.inputs[0], cache.outputs[0]);
  for (std::size_t k = 0; k < plan.outputs.size(); ++k)
    if (cache.outputs[k].is_known()) e.make_room(plan.outputs[k], cache.outputs[k]);
  cache.kernel.run()(cache.kernel.closure(), e);
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
  return BoundKernel::make([plan](Context& c) {
    Execution& e = execution(c);
    if (any_dead(e, plan.dead_if)) return e.set_dead(plan.flag);
    e.set_alive(plan.flag);
    for (const int slot : plan.variables) e.require_initialized(slot, plan.node);
    if (plan.inner) plan.inner.run()(plan.inner.closure(), c);
  });
}

BoundKernel late_step(LatePlan plan) {
  return BoundKernel::make([plan](Context& c) { run_late(plan, execution(c)); });
}

BoundKernel check_step() {
  return BoundKernel::make([](Context& c) { execution(c).throw_if_stopped(); });
}

}  // namespace runnel
