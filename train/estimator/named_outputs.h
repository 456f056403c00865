// Tensors by name: the features, labels and predictions of a model. One alone needs no name, as in
// TensorFlow, where a model's features may be a tensor or a dict of them.
#pragma once

#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "graph/node.h"
#include "ops/operand.h"

namespace runnel {

// A value: `NamedOutputs x = output;` is one without a name, `NamedOutputs x = {{"age", a}, {"sex", s}};` are
// several. Where a tensor is wanted, one alone stands for itself.
class NamedOutputs {
 public:
  using Map = std::map<std::string, Output>;

  NamedOutputs() = default;
  NamedOutputs(Output alone);  // an empty Output gives none
  NamedOutputs(Map outputs) : outputs_(std::move(outputs)) {}
  NamedOutputs(std::initializer_list<Map::value_type> outputs) : outputs_(outputs) {}

  // Throw NotFound, naming what there is; `only`, and the conversions, if there are none or several.
  Output operator[](std::string_view name) const;
  Output only() const;
  operator Output() const { return only(); }
  operator Operand() const { return only(); }

  bool has(std::string_view name) const;
  bool empty() const { return outputs_.empty(); }
  bool is_single() const;                      // one without a name
  const Map& all() const { return outputs_; }  // the one without a name is under ""

 private:
  std::string names() const;
  Map outputs_;
};

}  // namespace runnel
