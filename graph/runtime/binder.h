// Binds one node's kernel: collects what its binder may ask and calls it. Used by the plan, by constant
// folding and by late steps.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "graph/kernel.h"

namespace runnel {

struct BindRequest {
  const Node* node = nullptr;
  std::vector<TensorInfo> inputs, outputs;
  std::vector<Tensor> values;  // by flat input; empty where not known
  std::vector<int> input_slots, output_slots;
  std::vector<bool> wanted;
  std::function<std::shared_ptr<NodeState>(const std::function<std::shared_ptr<NodeState>()>&)> node_state;
  std::vector<const Node*> makers;  // by flat input, as Bind knows them
  ResourceFinder resource;
  FileSystem* files = nullptr;  // none means the machine's
};

class Binder {
 public:
  // Throws what the kernel's binder throws, with the node's name.
  static BoundKernel bind(BindRequest request);
};

// Runs a pure node on known inputs and returns its outputs. An input without a value has only its shape.
std::vector<Tensor> compute(const Node& node, const std::vector<TensorInfo>& inputs,
                            const std::vector<Tensor>& values, const std::vector<TensorInfo>& outputs);

}  // namespace runnel
