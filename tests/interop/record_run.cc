// Trains a small model and records two of its runs, for test_run_metadata.py: record_run DIR. Writes an event
// file with the graph and both, and beside it graph.pb, run.pb, the first run as a RunMetadata message, and
// run.json, its trace.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "ops/ops.h"
#include "summary/summary.h"
#include "train/train.h"

using namespace runnel;

namespace {

Tensor filled(const Shape& shape, float value) {
  Tensor out(DType::kFloat, shape);
  std::ranges::fill(out.mutable_values<float>(), value);
  return out;
}

void record(const std::string& directory) {
  Graph g;
  const Output x = placeholder<float>(g, {256, 300}, "x"), large = placeholder<float>(g, {1 << 20}, "large");
  const Variable w = variable(g, filled({300, 200}, 0.1f), "layer/w"),
                 b = variable(g, filled({200}, 1), "layer/b");
  const Output out =
      relu(bias_add(matmul(x, w, {.name = "layer/MatMul"}), b.value()), {.name = "layer/Relu"});
  const Operation step = GradientDescent(1e-6f).minimize(reduce_mean(square(out)));
  const Output run = relu(large * 2.0f + large, {.name = "run"});  // fused
  Session session(g);
  session.run(initialize_global_variables(g));
  write_file_atomically(real_file_system(), directory + "/graph.pb", g.to_graph_def());
  FileWriter log(directory + "/logs", g);
  for (int k = 1; k <= 2; ++k) {
    RunMetadata took;
    session.run({step, Operation(run.node())}, {{x, filled({256, 300}, 0.5f)}, {large, filled({1 << 20}, 1)}},
                {.run_metadata = &took});
    log.add_run_metadata(took, "step " + std::to_string(k), k);
    if (k > 1) continue;
    write_file_atomically(real_file_system(), directory + "/run.pb", took.serialize());
    write_file_atomically(real_file_system(), directory + "/run.json", chrome_trace(took));
  }
  log.close();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: record_run DIR\n"), 2;
  record(argv[1]);
}
