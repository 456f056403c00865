// Taking back an import that failed: nodes from the last one on, then everything that was copied when it
// began.
#include <algorithm>

#include "graph/graph_def.h"

namespace runnel {

GraphRollback::GraphRollback(Graph::State& state)
    : state_(state),
      nodes_(state.nodes.size()),
      names_(state.names),
      collections_(state.collections),
      carried_(state.carried) {
  for (const auto& [name, spec] : state.own_ops) own_ops_.push_back(name);
}

GraphRollback::~GraphRollback() {
  if (keep_) return;
  for (; state_.nodes.size() > nodes_; state_.nodes.pop_back()) {
    state_.by_name.erase(state_.nodes.back()->name());
    state_.node_specs.erase(state_.nodes.back()->name());
  }
  std::erase_if(state_.node_specs, [&](const auto& item) { return !state_.by_name.contains(item.first); });
  std::erase_if(state_.own_ops,
                [&](const auto& item) { return !std::ranges::binary_search(own_ops_, item.first); });
  state_.names = std::move(names_);
  state_.collections = std::move(collections_);
  state_.carried = std::move(carried_);
}

}  // namespace runnel
