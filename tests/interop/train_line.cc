// Fits a line by Adam and saves graph and variables: train_line PREFIX ref|resource STEPS. The checkpoint is
// PREFIX-STEPS.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "graph/graph.h"
#include "ops/ops.h"
#include "train/train.h"

using namespace runnel;

namespace {

void build(Graph& g, bool resource) {
  const Variable w = variable(g, Tensor::vector<float>({0.5f}), "w", {.use_resource = resource});
  const Variable b = variable(g, Tensor::vector<float>({-0.25f}), "b", {.use_resource = resource});
  const Output x = constant(g, Tensor::vector<float>({0.1f, 0.7f, -0.3f, 1.1f}), {.name = "x"});
  const Output y = constant(g, Tensor::vector<float>({0.3f, 0.4f, 0.2f, 0.9f}), {.name = "y"});
  const Output loss = reduce_mean(square(w * x + b - y), {.name = "loss"});
  Adam(0.01f).minimize(loss, {.global_step = get_or_create_global_step(g, {.use_resource = resource})});
}

}  // namespace

int main(int count, char** arguments) try {
  if (count != 4) return 2;
  Graph g;
  build(g, std::string(arguments[2]) == "resource");
  Saver saver(g);
  Session session(g);
  session.run(initialize_global_variables(g));
  for (int i = std::atoi(arguments[3]); i > 0; --i) session.run(g.operation("Adam"));
  saver.save(session, arguments[1], {.global_step = get_global_step(g)});
  return 0;
} catch (const Error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
