// Finding what has no value, without adding to the graph, which may be finalized.
#include "train/supervisor/missing_values.h"

#include <map>
#include <set>
#include <string>
#include <vector>

#include "graph/dataflow.h"
#include "graph/error.h"
#include "graph/log.h"
#include "graph/op_spec.h"

namespace runnel {
namespace {

bool have_values(Session& session, std::span<const Variable> variables) {
  try {
    (void)session.snapshot(variables);
    return true;
  } catch (const FailedPrecondition&) {
    if (session.closed()) throw;
    return false;
  }
}

std::vector<Variable> without_value(Session& session) {
  const std::vector<Variable> all = session.graph().variables();
  if (have_values(session, all)) return {};
  std::vector<Variable> out;
  for (const Variable& variable : all)
    if (variable.parts().initializer && !have_values(session, std::span(&variable, 1)))
      out.push_back(variable);
  return out;
}

// The nodes of all variables that computing the variable's initial value may read.
std::set<const Node*> read_by_initializer(const Variable& variable) {
  const Node* own = &variable.parts().variable.node();
  std::vector<const Node*> waiting{&variable.parts().initializer.node()};
  std::set<const Node*> seen{own, waiting[0]}, out;
  while (!waiting.empty()) {
    const Node& node = *waiting.back();
    waiting.pop_back();
    if (node.spec().traits.role == Role::kVariable) out.insert(&node);
    const auto visit = [&](const Node* input) {
      if (seen.insert(input).second) waiting.push_back(input);
    };
    for (const Output& input : node.input_list())
      if (input) visit(&input.node());
    for (const Node* before : node.control_inputs()) visit(before);
  }
  return out;
}

// The missing variables in rounds: those of one round read none that come later.
std::vector<std::vector<Variable>> in_rounds(const std::vector<Variable>& missing) {
  std::map<const Node*, std::set<const Node*>> reads;
  std::set<const Node*> waiting;
  for (const Variable& variable : missing) {
    const Node* node = &variable.parts().variable.node();
    waiting.insert(node);
    reads.emplace(node, read_by_initializer(variable));
  }
  std::vector<Variable> left = missing;
  std::vector<std::vector<Variable>> rounds;
  while (!left.empty()) {
    std::vector<Variable> now, later;
    for (const Variable& variable : left) {
      bool waits = false;
      for (const Node* other : reads.at(&variable.parts().variable.node()))
        waits = waits || waiting.contains(other);
      (waits ? later : now).push_back(variable);
    }
    if (now.empty()) now.swap(later);  // a cycle: the initializers themselves say what is wrong
    for (const Variable& variable : now) waiting.erase(&variable.parts().variable.node());
    rounds.push_back(std::move(now));
    left = std::move(later);
  }
  return rounds;
}

}  // namespace

void initialize_missing_values(Session& session) {
  const std::vector<Variable> missing = without_value(session);
  if (missing.empty()) return;
  for (const std::vector<Variable>& round : in_rounds(missing)) {
    std::vector<Fetch> initializers;
    for (const Variable& variable : round) initializers.emplace_back(variable.parts().initializer);
    (void)session.run(std::span<const Fetch>(initializers));
  }
  std::string names;
  for (const Variable& variable : missing) names += cat(names.empty() ? "" : ", ", variable.name());
  log_info(
      cat("the checkpoint has no values for these variables, which start at their initial values: ", names));
}

}  // namespace runnel
