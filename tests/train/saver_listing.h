// The nodes that a saver added, as text to compare: TensorFlow's own against ours, but for attributes and ops
// that are newer than TensorFlow 1.15.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"

namespace runnel {

inline Attrs attrs_of(const Node& node) {
  Attrs attrs = node.attrs();
  attrs.erase("_output_shapes");
  attrs.erase("_has_manual_control_dependencies");
  if (node.op() == "AssignVariableOp") attrs.erase("validate_shape");  // newer than 1.15
  return attrs;
}

// "name | op | inputs | device", and the attributes.
inline std::string listing(const Node& node) {
  std::string text = cat(node.name(), " | ", node.op(), " |");
  for (const Output& input : node.input_list()) text += cat(" ", input.name());
  for (const Node* before : node.control_inputs()) text += cat(" ^", before->name());
  text += cat(" | ", node.device());
  for (const auto& [name, value] : attrs_of(node)) text += cat(" ", name, "=", value.text());
  return text;
}

// Those in the scope `scope`, as if it were called "save".
inline std::vector<std::string> saver_nodes(const Graph& g, const std::string& scope = "save") {
  std::vector<std::string> nodes;
  for (const Node* node : g.nodes()) {
    if (!node->name().starts_with(scope + "/") || node->op() == "DisableCopyOnRead") continue;
    std::string text = listing(*node);
    const std::string part = scope + "/";
    for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 5))
      text.replace(at, part.size(), "save/");
    nodes.push_back(std::move(text));
  }
  return nodes;
}

}  // namespace runnel
