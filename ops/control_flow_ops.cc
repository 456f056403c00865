// Specs of the control flow ops and the builders of conditionals. The plan handles them by role.
#include "ops/control_flow_ops.h"

#include <algorithm>
#include <cstdint>

#include "graph/dataflow.h"
#include "graph/error.h"
#include "graph/op_spec.h"

namespace runnel {
namespace {

Shapes switch_shape(const ShapeContext& c) {
  (void)c.input("pred", Rank{0});
  return {c.input(0), c.input(0)};
}

// What the shapes of all inputs have in common; Merge takes any one of them.
Shapes merge_shape(const ShapeContext& c) {
  Shape common = c.input(0);
  for (int i = 1; i < c.inputs(); ++i) {
    const Shape other = c.input(i);
    if (!common.has_rank() || !other.has_rank() || common.rank() != other.rank())
      return {Shape::unknown(), Shape{}};
    for (int d = 0; d < common.rank(); ++d)
      if (common[d] != other[d]) common.set(d, kUnknown);
  }
  return {common, Shape{}};
}

// The gradient of a side is alive if that side was; switching it by pred again keeps a zero gradient of the
// dead side, which is made outside of it, from being merged.
Grads switch_gradient(const Node& n, std::span<const Grad> d) {
  const Output no = switch_tensor(d[0].dense(), n.input(1)).if_false;
  const Output yes = switch_tensor(d[1].dense(), n.input(1)).if_true;
  return {merge({no, yes}).output, Grad()};
}

// The gradient goes to the input that was taken; the others' are dead.
Grads merge_gradient(const Node& n, std::span<const Grad> d) {
  const Output value_index(n, 1), gradient = d[0].dense();
  Graph& graph = n.graph();
  Outputs taken;
  for (std::int32_t i = 0; i < n.inputs(); ++i)
    taken.push_back(add_binary("Equal", "Equal", value_index, i, {}, n.where()));
  Grads out;
  for (const Output& pred : taken) {
    ColocateWith with(gradient.node());
    out.push_back(Output(graph.add("Switch", {gradient, pred}, {}, "Switch", n.where()), 1));
  }
  return out;
}

const char* const kT = "T: type";
const char* const kNoLoops = "loops do not run yet";

const OpRegistration kSwitch{{
    .name = "Switch",
    .inputs = {"data: T", "pred: bool"},
    .outputs = {"output_false: T", "output_true: T"},
    .attrs = {kT},
    .shape = switch_shape,
    .gradient = switch_gradient,
    .traits = {.role = Role::kSwitch},
}};

const OpRegistration kRefSwitch{{
    .name = "RefSwitch",
    .inputs = {"data: Ref(T)", "pred: bool"},
    .outputs = {"output_false: Ref(T)", "output_true: Ref(T)"},
    .attrs = {kT},
    .shape = switch_shape,
    .gradient = switch_gradient,
    .traits = {.role = Role::kSwitch, .allows_uninitialized_input = true},
}};

const OpRegistration kMerge{{
    .name = "Merge",
    .inputs = {"inputs: N * T"},
    .outputs = {"output: T", "value_index: int32"},
    .attrs = {kT, "N: int >= 1"},
    .shape = merge_shape,
    .gradient = merge_gradient,
    .traits = {.role = Role::kMerge},
}};

const OpRegistration kRefMerge{{
    .name = "RefMerge",
    .inputs = {"inputs: Ref(N * T)"},
    .outputs = {"output: Ref(T)", "value_index: int32"},
    .attrs = {kT, "N: int >= 1"},
    .shape = merge_shape,
    .gradient = merge_gradient,
    .traits = {.role = Role::kMerge},
}};

const OpRegistration kEnter{{
    .name = "Enter",
    .inputs = {"data: T"},
    .outputs = {"output: T"},
    .attrs = {kT, "frame_name: string", "is_constant: bool = false", "parallel_iterations: int = 10"},
    .shape = unknown_shapes,
    .gradient = Gradient::unwritten(kNoLoops),
    .traits = {.role = Role::kLoop},
}};

const OpRegistration kRefEnter{{
    .name = "RefEnter",
    .inputs = {"data: Ref(T)"},
    .outputs = {"output: Ref(T)"},
    .attrs = {kT, "frame_name: string", "is_constant: bool = false", "parallel_iterations: int = 10"},
    .shape = unknown_shapes,
    .gradient = Gradient::unwritten(kNoLoops),
    .traits = {.role = Role::kLoop},
}};

const OpRegistration kExit{{
    .name = "Exit",
    .inputs = {"data: T"},
    .outputs = {"output: T"},
    .attrs = {kT},
    .shape = unknown_shapes,
    .gradient = Gradient::unwritten(kNoLoops),
    .traits = {.role = Role::kLoop},
}};

const OpRegistration kRefExit{{
    .name = "RefExit",
    .inputs = {"data: Ref(T)"},
    .outputs = {"output: Ref(T)"},
    .attrs = {kT},
    .shape = unknown_shapes,
    .gradient = Gradient::unwritten(kNoLoops),
    .traits = {.role = Role::kLoop},
}};

const OpRegistration kNextIteration{{
    .name = "NextIteration",
    .inputs = {"data: T"},
    .outputs = {"output: T"},
    .attrs = {kT},
    .shape = unknown_shapes,
    .gradient = Gradient::unwritten(kNoLoops),
    .traits = {.role = Role::kNextIteration},
}};

const OpRegistration kRefNextIteration{{
    .name = "RefNextIteration",
    .inputs = {"data: Ref(T)"},
    .outputs = {"output: Ref(T)"},
    .attrs = {kT},
    .shape = unknown_shapes,
    .gradient = Gradient::unwritten(kNoLoops),
    .traits = {.role = Role::kNextIteration},
}};

const OpRegistration kLoopCond{{
    .name = "LoopCond",
    .inputs = {"input: bool"},
    .outputs = {"output: bool"},
    .shape = same_shape,
    .gradient = Gradient::none("returns bool"),
    .traits = {.role = Role::kLoop},
}};

}  // namespace

Switched switch_tensor(Output data, Output pred, OpOptions o) {
  const Node& node =
      data.graph().add(is_ref(data.dtype()) ? "RefSwitch" : "Switch", {data, pred}, {}, o.name, o.where);
  return {Output(node, 0), Output(node, 1)};
}

Merged merge(const Outputs& inputs, OpOptions o) {
  if (inputs.empty()) throw InvalidArgument("merge: there are no inputs", o.where);
  const bool refs = std::ranges::all_of(inputs, [](const Output& input) { return is_ref(input.dtype()); });
  const Node& node = inputs[0].graph().add(refs ? "RefMerge" : "Merge", {inputs}, {}, o.name, o.where);
  return {Output(node, 0), Output(node, 1)};
}

}  // namespace runnel
