// Node listings as golden/*.nodes.txt has them ("name | op | inputs @device | attrs"), of our graphs and of
// TensorFlow's, brought to one form so that they can be compared: values of constants and random seeds are
// left out, and so are the attributes newer than TensorFlow 1.15.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "graph/dataflow.h"
#include "graph/io/file_system.h"

namespace runnel {

using Listing = std::vector<std::string>;

inline std::string normal_line(const std::string& name, const std::string& op,
                               const std::vector<std::string>& inputs,
                               const std::map<std::string, std::string>& attrs) {
  static const std::set<std::string> kIgnored{"_has_manual_control_dependencies",
                                              "allowed_devices",
                                              "debug_name",
                                              "grad_a",
                                              "grad_b",
                                              "seed",
                                              "seed2"};
  std::string out = name + " | " + op + " |";
  std::set<std::string> control;
  for (const std::string& input : inputs)
    if (input.starts_with("^")) {
      control.insert(input);
    } else {
      out += " " + input;
    }
  for (const std::string& input : control) out += " " + input;
  out += " |";
  for (const auto& [key, value] : attrs)
    if (!kIgnored.contains(key) && !(key == "validate_shape" && op == "AssignVariableOp"))
      out += " " + key + "=" + (key == "value" ? value.substr(0, value.find('(')) : value);
  return out;
}

inline std::string golden_text(const AttrValue& value) {
  if (const bool* flag = value.if_is<bool>()) return *flag ? "True" : "False";
  if (const auto* text = value.if_is<std::string>()) return "'" + *text + "'";
  if (const Shape* shape = value.if_is<Shape>()) return shape->has_rank() ? shape->text() : "?";
  if (const Tensor* tensor = value.if_is<Tensor>()) return name_of(tensor->dtype()) + tensor->shape().text();
  std::string list;
  if (const auto* texts = value.if_is<std::vector<std::string>>()) {
    for (const std::string& text : *texts) list += (list.empty() ? "b'" : ",b'") + text + "'";
    return "list(" + list + ")";
  }
  if (const auto* types = value.if_is<std::vector<DType>>()) {
    for (const DType type : *types) list += (list.empty() ? "" : ",") + name_of(type);
    return "list(" + list + ")";
  }
  return value.text();
}

// Our nodes from position `first` on.
inline Listing listing_of(const Graph& graph, std::size_t first = 0) {
  Listing out;
  const std::vector<Node*> nodes = graph.nodes();
  for (std::size_t i = first; i < nodes.size(); ++i) {
    std::vector<std::string> inputs;
    for (const Output& input : nodes[i]->input_list())
      inputs.push_back(input.index() == 0 ? input.node().name() : input.name());
    for (const Node* control : nodes[i]->control_inputs()) inputs.push_back("^" + control->name());
    std::map<std::string, std::string> attrs;
    for (const auto& [key, value] : nodes[i]->attrs()) attrs[key] = golden_text(value);
    out.push_back(normal_line(nodes[i]->name(), nodes[i]->op(), inputs, attrs));
  }
  return out;
}

// "T=float _class=list(b'loc:@x') value=float[](1.0) in float_val" by key.
inline std::map<std::string, std::string> golden_attrs(const std::string& text) {
  std::map<std::string, std::string> out;
  std::string key;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const std::size_t equals = word.find('=');
    if (equals != std::string::npos && word.find_first_of("('") > equals) {
      key = word.substr(0, equals);
      out[key] = word.substr(equals + 1);
    } else {
      out[key] += " " + word;
    }
  }
  return out;
}

inline std::string golden_line(std::string line) {
  if (line.ends_with("|")) line += " ";  // no attributes
  std::vector<std::string> parts;
  for (std::size_t at = 0, end; at <= line.size(); at = end + 3) {
    end = line.find(" | ", at);
    if (end == std::string::npos || parts.size() == 3) end = line.size();
    parts.push_back(line.substr(at, end - at));
  }
  parts.resize(4);
  std::vector<std::string> inputs;
  std::istringstream words(parts[2]);
  for (std::string word; words >> word;) {
    if (word.ends_with(",")) word.pop_back();
    if (!word.starts_with("@")) inputs.push_back(word);
  }
  return normal_line(parts[0], parts[1], inputs, golden_attrs(parts[3]));
}

// TensorFlow's nodes: the whole file, or the lines after "== SECTION".
inline Listing golden_listing(const std::string& file, const std::string& section = "") {
  std::istringstream lines(read_file(real_file_system(), join_path(RUNNEL_GOLDEN, file)));
  Listing out;
  bool inside = section.empty();
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("== ")) {
      inside = line == "== " + section;
    } else if (inside && !line.empty()) {
      out.push_back(golden_line(line));
    }
  }
  REQUIRE(!out.empty());
  return out;
}

// One text, for messages that show where two listings part.
inline void check_same(const Listing& ours, const Listing& golden) {
  for (std::size_t i = 0; i < std::max(ours.size(), golden.size()); ++i) {
    const std::string our = i < ours.size() ? ours[i] : "(nothing)";
    const std::string theirs = i < golden.size() ? golden[i] : "(nothing)";
    REQUIRE(our == theirs);
  }
}

}  // namespace runnel
