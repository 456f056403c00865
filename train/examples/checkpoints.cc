// Checkpoints without a graph: writes one that TensorFlow opens, and lists what a checkpoint holds.
#include <cstdint>
#include <iostream>

#include <runnel/train.h>

using namespace runnel;

int main() {
  CheckpointWriter writer("checkpoints/model.ckpt-1");
  writer.add("linear/weight", Tensor::vector<float>({0.1f, 0.2f}));
  writer.add("global_step", Tensor::scalar<std::int64_t>(1));
  writer.finish();  // on the disk when it returns

  CheckpointReader reader("checkpoints/model.ckpt-1");
  for (const VariableInfo& v : reader.variables()) std::cout << v.name << ' ' << v.dtype << v.shape << '\n';
  std::cout << "step " << reader.read("global_step").scalar<std::int64_t>() << '\n';
}
