// See named_outputs.h.
#include "train/estimator/named_outputs.h"

#include "graph/error.h"

namespace runnel {

NamedOutputs::NamedOutputs(Output alone) {
  if (alone) outputs_.emplace("", alone);
}

Output NamedOutputs::operator[](std::string_view name) const {
  const auto at = outputs_.find(std::string(name));
  if (at == outputs_.end())
    throw NotFound(cat("there is no tensor called '", name, "' here; there ", names()));
  return at->second;
}

Output NamedOutputs::only() const {
  if (outputs_.size() != 1) throw NotFound(cat("one tensor is wanted here, but there ", names()));
  return outputs_.begin()->second;
}

bool NamedOutputs::has(std::string_view name) const { return outputs_.contains(std::string(name)); }

bool NamedOutputs::is_single() const { return outputs_.size() == 1 && outputs_.begin()->first.empty(); }

std::string NamedOutputs::names() const {
  if (outputs_.empty()) return "are none";
  if (is_single()) return "is one without a name";
  std::string text = outputs_.size() == 1 ? "is" : "are";
  for (const auto& [name, output] : outputs_)
    text += (&output == &outputs_.begin()->second ? " '" : ", '") + name + "'";
  return text;
}

}  // namespace runnel
