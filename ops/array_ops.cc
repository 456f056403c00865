// Specs and builders of constants, placeholders, aliases and the ops that only order others.
#include "ops/array_ops.h"

#include <algorithm>
#include <map>

#include "graph/error.h"

namespace runnel {
namespace {

const OpRegistration kConst{{
    .name = "Const",
    .outputs = {"output: dtype"},
    .attrs = {"value: tensor", "dtype: type"},
    .shape = [](const ShapeContext& c) -> Shapes { return c.node().tensor("value").shape(); },
    .gradient = Gradient::none("nothing flows into a constant"),
    .traits = {.role = Role::kConstant},
}};

const OpRegistration kPlaceholder{{
    .name = "Placeholder",
    .outputs = {"output: dtype"},
    .attrs = {"dtype: type", "shape: shape = {unknown_rank: true}"},
    .shape = [](const ShapeContext& c) -> Shapes { return c.node().shape("shape"); },
    .gradient = Gradient::none("it has no inputs"),
    .traits = {.role = Role::kPlaceholder},
}};

Grads pass_on(const Node&, Grad d) { return {d}; }

const OpRegistration kPlaceholderWithDefault{{
    .name = "PlaceholderWithDefault",
    .inputs = {"input: dtype"},
    .outputs = {"output: dtype"},
    .attrs = {"dtype: type", "shape: shape"},
    .shape = [](const ShapeContext& c) -> Shapes {
      const Shape& shape = c.node().shape("shape");
      if (!shape.compatible_with(c.input(0))) c.refuse(cat("the default does not fit shape ", shape));
      return shape;
    },
    .gradient = pass_on,
    .traits = {.role = Role::kDefaulted},
}};

const OpRegistration kIdentity{{
    .name = "Identity",
    .inputs = {"input: T"},
    .outputs = {"output: T"},
    .attrs = {"T: type"},
    .shape = same_shape,
    .gradient = pass_on,
    .traits = {.role = Role::kAlias},
}};

const OpRegistration kRefIdentity{{
    .name = "RefIdentity",
    .inputs = {"input: Ref(T)"},
    .outputs = {"output: Ref(T)"},
    .attrs = {"T: type"},
    .shape = same_shape,
    .gradient = pass_on,
    .traits = {.role = Role::kAlias, .allows_uninitialized_input = true},
}};

const OpRegistration kStopGradient{{
    .name = "StopGradient",
    .inputs = {"input: T"},
    .outputs = {"output: T"},
    .attrs = {"T: type"},
    .shape = same_shape,
    .gradient = Gradient::none("it stops gradients"),
    .traits = {.role = Role::kAlias},
}};

const OpRegistration kPreventGradient{{
    .name = "PreventGradient",
    .inputs = {"input: T"},
    .outputs = {"output: T"},
    .attrs = {"T: type", "message: string = ''"},
    .shape = same_shape,
    .gradient = [](const Node& n, Grad) -> Grads {
      throw InvalidArgument(cat("no gradient may be taken through it: ", n.bytes("message")));
    },
    .traits = {.role = Role::kAlias},
}};

const OpRegistration kNoOp{{
    .name = "NoOp",
    .shape = no_shapes,
    .gradient = Gradient::none("it has no outputs"),
    .traits = {.role = Role::kNothing},
}};

std::string_view name_or(const OpOptions& options, std::string_view otherwise) {
  return options.name.empty() ? otherwise : std::string_view(options.name);
}

// A NoOp after these, whose control inputs are in order of name as TensorFlow writes them.
Operation after(Graph& graph, std::vector<Operation> operations, std::string_view name, Location where) {
  std::ranges::sort(operations, {}, [](const Operation& operation) { return operation.name(); });
  return graph.add("NoOp", {}, operations, {}, name, where);
}

}  // namespace

Output constant(Graph& graph, const Tensor& value, OpOptions o) {
  if (!value) throw InvalidArgument("constant: an empty tensor has no value", o.where);
  return graph.add("Const", {}, {{"value", value}, {"dtype", value.dtype()}}, o.name, o.where);
}

Output placeholder(Graph& graph, DType type, const Shape& shape, std::string_view name, Location where) {
  return graph.add("Placeholder", {}, {{"dtype", type}, {"shape", shape}}, name, where);
}

Output placeholder_with_default(Operand input, const Shape& shape, OpOptions o) {
  return input.alone().graph().add("PlaceholderWithDefault", {input.alone()}, {{"shape", shape}}, o.name,
                                   o.where);
}

Output identity(Operand x, OpOptions o) {
  const Output in = x.alone();
  return in.graph().add("Identity", {in}, {}, o.name, o.where);
}

Output stop_gradient(Operand x, OpOptions o) {
  const Output in = x.alone();
  return in.graph().add("StopGradient", {in}, {}, o.name, o.where);
}

Operation no_op(Graph& graph, OpOptions o) { return graph.add("NoOp", {}, {}, o.name, o.where); }

Operation group(Graph& graph, std::span<const Operation> operations, OpOptions o) {
  const NameScope scope(graph, name_or(o, "group_deps"));
  std::map<std::string, std::vector<Operation>> by_device;
  for (const Operation& operation : operations) by_device[operation.node().device()].push_back(operation);
  std::vector<Operation> last(operations.begin(), operations.end());
  if (by_device.size() == 1) {
    const DeviceScope device(graph, by_device.begin()->first);
    return after(graph, last, scope.name(), o.where);
  }
  last.clear();
  for (const auto& [name, here] : by_device) {
    const DeviceScope device(graph, name);
    last.push_back(after(graph, here, "", o.where));
  }
  return after(graph, last, scope.name(), o.where);
}

Operation group(const std::vector<Operation>& operations, OpOptions o) {
  if (operations.empty()) throw InvalidArgument("group: no operations and no graph to add to", o.where);
  return group(operations.front().graph(), operations, std::move(o));
}

Output with_dependencies(std::span<const Operation> operations, Output x, OpOptions o) {
  Graph& graph = x.graph();
  const NameScope scope(graph, name_or(o, "control_dependency"));
  const ColocateWith with(x.node());
  const ControlDependencies control(graph, operations);
  return graph.add("Identity", {x}, {}, scope.name(), o.where);
}

std::vector<Grad> tuple(const std::vector<Grad>& tensors, OpOptions o) {
  std::map<int, Operation> makers;  // by position in the graph
  for (const Grad& tensor : tensors) {
    if (!tensor) continue;
    const Output made = tensor.slices() ? tensor.slices()->values : tensor.dense();
    makers.emplace(made.node().id(), Operation(made.node()));
    if (const IndexedSlices* slices = tensor.slices())
      makers.emplace(slices->indices.node().id(), Operation(slices->indices.node()));
  }
  if (makers.empty()) return tensors;
  std::vector<Operation> all;
  for (const auto& [id, maker] : makers) all.push_back(maker);
  Graph& graph = all.front().graph();
  const NameScope scope(graph, name_or(o, "tuple"));
  const Operation gate = group(graph, all, {.where = o.where});
  std::vector<Grad> out;
  for (const Grad& tensor : tensors) {
    if (const IndexedSlices* s = tensor.slices())
      out.push_back(IndexedSlices{with_dependencies({&gate, 1}, s->values, {.where = o.where}), s->indices,
                                  s->dense_shape});
    else
      out.push_back(tensor ? Grad(with_dependencies({&gate, 1}, tensor.dense(), {.where = o.where}))
                           : tensor);
  }
  return out;
}

}  // namespace runnel
