// Following a restore operation back through the graph.
#include "train/checkpoint/restored_tensors.h"

#include <algorithm>
#include <set>

#include "graph/op_spec.h"

namespace runnel {
namespace {

struct Source {
  Output output;
  bool reshaped = false;
};

// Back over nodes that hand on the same elements.
Source source_of(Output value) {
  Source source{value};
  while (true) {
    const Node& node = source.output.node();
    const Traits& traits = node.spec().traits;
    if (node.inputs() == 0 || (traits.role != Role::kAlias && !traits.view)) return source;
    source.reshaped |= traits.role != Role::kAlias;
    source.output = node.input(0);
  }
}

// The text of entry i of a constant list; nothing if it is computed.
std::optional<std::string> entry(const Node& restore, const char* list, int i) {
  const Node& node = source_of(restore.input(list)).output.node();
  if (node.spec().traits.role != Role::kConstant) return {};
  const Tensor& value = node.tensor("value");
  if (value.dtype() != DType::kString || i >= value.elements()) return {};
  return value.values<std::string>()[static_cast<std::size_t>(i)];
}

// What the node assigns, if it assigns something restored.
std::optional<RestoredTensor> restored_into(const Node& node) {
  const auto& uses = node.spec().traits.variables;
  if (uses.size() != 1 || uses[0].access != Access::kOverwrites || node.inputs() != 2) return {};
  const Node& variable = source_of(node.input(0)).output.node();
  const Source source = source_of(node.input(1));
  const Node& restore = source.output.node();
  if (restore.op() != "RestoreV2" || variable.spec().traits.role != Role::kVariable) return {};
  const auto key = entry(restore, "tensor_names", source.output.index());
  const auto slice = entry(restore, "shape_and_slices", source.output.index());
  if (!key || !slice) return {};
  const bool any_shape = node.op() == "Assign" && !node.flag("validate_shape") && !source.reshaped;
  return RestoredTensor{.key = *key,
                        .variable = variable.name(),
                        .dtype = source.output.dtype(),
                        .shape = any_shape ? Shape::unknown() : variable.shape("shape"),
                        .slice = parse_slice_spec(*slice),
                        .reshapes = source.reshaped,
                        .value = source.output,
                        .assign = Operation(node),
                        .node = &variable};
}

// A tensor whose shape only the graph can tell.
bool is_shaped_by_graph(const RestoredTensor& tensor) { return tensor.reshapes && !tensor.shape.is_known(); }

// True of what comes before an assignment and has no effect of its own.
bool only_hands_on(const Node& node, Output filename) {
  const Traits& traits = node.spec().traits;
  if (node.op() == "RestoreV2") return node.input("prefix") == filename;
  switch (traits.role) {
    case Role::kConstant:
    case Role::kDefaulted:
    case Role::kVariable:
    case Role::kAlias:
    case Role::kNothing: return true;
    case Role::kPlaceholder: return &node == &filename.node();
    case Role::kPlain: return traits.view && !traits.stateful && traits.variables.empty();
    default: return false;
  }
}

}  // namespace

RestoredTensors restored_by(Operation restore, Output filename) {
  std::vector<const Node*> waiting{&restore.node()};
  std::set<const Node*> seen{waiting[0]};
  std::set<const Node*> given;  // variables
  RestoredTensors found;
  const auto visit = [&](const Node* node) {
    if (seen.insert(node).second) waiting.push_back(node);
  };
  while (!waiting.empty()) {
    const Node& node = *waiting.back();
    waiting.pop_back();
    if (auto tensor = restored_into(node)) {
      found.all &= !is_shaped_by_graph(*tensor) && given.insert(tensor->node).second;
      found.list.push_back(std::move(*tensor));
    } else {
      found.all &= only_hands_on(node, filename);
    }
    for (const Node* before : node.control_inputs()) visit(before);
    for (const Output& input : node.input_list()) visit(&input.node());
  }
  std::ranges::sort(found.list, [](const RestoredTensor& a, const RestoredTensor& b) {
    return std::tie(a.key, a.variable) < std::tie(b.key, b.variable);
  });
  return found;
}

}  // namespace runnel
