// Reading the step and the values of a save in one run.
#include "train/checkpoint/save_step.h"

#include <set>
#include <utility>

#include "train/checkpoint/step_number.h"

namespace runnel {
namespace {

// True if a node comes before a SaveV2 node by a control edge, its own or that of what makes its prefix and
// names; what makes the tensors that it saves does not count.
bool waits(const Node& save) {
  if (!save.control_inputs().empty()) return true;
  std::vector<const Node*> waiting;
  for (const char* list : {"prefix", "tensor_names", "shape_and_slices"})
    waiting.push_back(&save.input(list).node());
  std::set<const Node*> seen;
  while (!waiting.empty()) {
    const Node& node = *waiting.back();
    waiting.pop_back();
    if (!node.control_inputs().empty()) return true;
    for (const Output& input : node.input_list())
      if (seen.insert(&input.node()).second) waiting.push_back(&input.node());
  }
  return false;
}

}  // namespace

Outputs saved_tensors(Output save) {
  std::vector<const Node*> waiting{&save.node()};
  std::set<const Node*> seen{waiting[0]};
  Outputs tensors;
  std::set<std::pair<const Node*, int>> known;
  const auto visit = [&](const Node* node) {
    if (seen.insert(node).second) waiting.push_back(node);
  };
  while (!waiting.empty()) {
    const Node& node = *waiting.back();
    waiting.pop_back();
    if (node.op() == "SaveV2") {
      if (waits(node)) return {};
      for (int k = 0; k < node.input_count("tensors"); ++k) {
        const Output tensor = node.input("tensors", k);
        if (known.emplace(&tensor.node(), tensor.index()).second) tensors.push_back(tensor);
      }
      continue;
    }
    for (const Node* before : node.control_inputs()) visit(before);
    for (const Output& input : node.input_list()) visit(&input.node());
  }
  return tensors;
}

SaveCut read_cut(Session& session, const SaveStep& step, std::optional<Output> save, bool always) {
  SaveCut cut{step.number() ? std::optional(*step.number()) : std::nullopt};
  if (!step.tensor() && !always) return cut;
  const Outputs saved = save ? saved_tensors(*save) : Outputs{};
  if (!step.tensor() && saved.empty()) return cut;
  std::vector<Fetch> fetches(saved.begin(), saved.end());
  if (step.tensor()) fetches.emplace_back(*step.tensor());
  const std::vector<Tensor> values = session.run(std::span<const Fetch>(fetches));
  if (step.tensor()) cut.step = step_number(values.back(), step.tensor()->name());
  for (std::size_t i = 0; i < saved.size(); ++i) cut.values.push_back({saved[i], values[i]});
  return cut;
}

}  // namespace runnel
