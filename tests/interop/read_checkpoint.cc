// Checkpoints as functions without a graph see them, and models that start from one, for
// test_reading_checkpoints.py:
//   read_checkpoint list PATH          a line "NAME-IN-HEX DTYPE-NUMBER DIMENSION..." a tensor
//   read_checkpoint exists PREFIX      "1" or "0"
//   read_checkpoint remove PREFIX
//   read_checkpoint init PATH KIND FORM TO   the model of the test, started from PATH and saved to TO
#include <cstdio>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "ops/ops.h"
#include "train/train.h"

using namespace runnel;

namespace {

void list(const std::string& path) {
  for (const VariableInfo& variable : list_variables(path)) {
    for (const unsigned char c : variable.name) std::printf("%02x", c);
    std::printf(" %d", static_cast<int>(variable.dtype));
    for (int i = 0; i < variable.shape.rank(); ++i)
      std::printf(" %lld", static_cast<long long>(variable.shape[i]));
    std::printf("\n");
  }
}

// Rows of the [10, 2] variable "p", as a partitioner of three parts cuts them.
std::vector<Variable> partitioned(Graph& g, bool resource) {
  const DeviceScope device(g, "/device:CPU:0");
  std::vector<Variable> parts;
  std::int64_t row = 0;
  for (const std::int64_t rows : {4, 3, 3}) {
    VariableParts part = variable(g, Tensor::zeros(DType::kFloat, Shape{rows, 2}),
                                  cat("p/part_", parts.size()), {.use_resource = resource})
                             .parts();
    part.slice = std::make_shared<SaveSlice>(SaveSlice{"p", {10, 2}, {row, 0}, {rows, 2}});
    parts.emplace_back(std::make_shared<VariableParts>(part));
    row += rows;
  }
  return parts;
}

AssignmentMap map_of(const std::string& form, const Variable& w, const std::vector<Variable>& parts) {
  if (form == "scope") return {{"old/", "new/"}};
  if (form == "root") return {{"old/", "new/"}, {"/", "top/"}};
  if (form == "names") return {{"old/w", w}, {"old/b", "new/b"}};
  return {{"p", parts}};
}

void init(const std::string& path, bool resource, const std::string& form, const std::string& to) {
  Graph g;
  Variable w;
  {
    const VariableScope scope(g, "new");
    w = get_variable(g, "w", {2, 2}, {.initializer = zeros_initializer(), .use_resource = resource});
    get_variable(g, "b", {2}, {.initializer = zeros_initializer(), .use_resource = resource});
  }
  {
    const VariableScope scope(g, "top");
    get_variable(g, "step", {},
                 {.initializer = zeros_initializer(), .dtype = DType::kInt64, .use_resource = resource});
  }
  const std::vector<Variable> parts = partitioned(g, resource);
  Collection variables = g.collection(keys::kGlobalVariables);
  variables.resize(3);
  variables.insert(variables.end(), parts.begin(), parts.end());
  g.set_collection(keys::kGlobalVariables, variables);
  init_from_checkpoint(g, path, map_of(form, w, parts));
  Session session(g);
  session.run(initialize_global_variables(g));
  Saver(g).save(session, to);
}

}  // namespace

int main(int count, char** arguments) try {
  const std::vector<std::string> words(arguments + 1, arguments + count);
  if (words.size() == 2 && words[0] == "list") {
    list(words[1]);
  } else if (words.size() == 2 && words[0] == "exists") {
    std::printf("%d\n", checkpoint_exists(words[1]));
  } else if (words.size() == 2 && words[0] == "remove") {
    remove_checkpoint(words[1]);
  } else if (words.size() == 5 && words[0] == "init") {
    init(words[1], words[2] == "resource", words[3], words[4]);
  } else {
    return 2;
  }
  return 0;
} catch (const Error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
