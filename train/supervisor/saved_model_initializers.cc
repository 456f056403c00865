// An item is an operation, or a tensor of one.
#include "train/supervisor/saved_model_initializers.h"

#include <variant>

namespace runnel {

std::vector<Operation> saved_model_initializers(const Graph& graph) {
  std::vector<Operation> all;
  for (const CollectionItem& item : graph.collection("saved_model_initializers")) {
    if (const auto* operation = std::get_if<Operation>(&item)) all.push_back(*operation);
    if (const auto* output = std::get_if<Output>(&item)) all.push_back(Operation(output->node()));
  }
  return all;
}

}  // namespace runnel
