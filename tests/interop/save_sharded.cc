// Saves variables of two devices, some of them parts of one tensor: save_sharded KIND FROM TO. KIND is
// "sharded", "parts" or "both"; FROM is a checkpoint to restore before, or "-". With the kind "jobs", of
// tasks that do not exist, TO is a `.meta` file.
#include <cstdio>
#include <memory>
#include <string>

#include "graph/graph.h"
#include "ops/ops.h"
#include "train/train.h"

using namespace runnel;

namespace {

void build_whole(Graph& g) {
  {
    const DeviceScope device(g, "/cpu:0");
    variable(g, Tensor::vector<float>({1, 2}), "a");
    variable(g, Tensor::matrix<int>({{3, 4}}), "c");
  }
  const DeviceScope device(g, "/cpu:1");
  variable(g, Tensor::vector<float>({5}), "b");
  variable(g, 6.0f, "d", {.use_resource = true});
}

// Rows of the [5, 2] tensor `whole`, counted from its `first` element on.
Variable part(Graph& g, const std::string& whole, int number, std::int64_t row, std::int64_t rows,
              bool resource) {
  Tensor value(DType::kFloat, Shape{rows, 2});
  for (std::int64_t i = 0; i < value.elements(); ++i)
    value.mutable_values<float>()[static_cast<std::size_t>(i)] = static_cast<float>(2 * row + i);
  VariableParts parts = variable(g, value, cat(whole, "/part_", number), {.use_resource = resource}).parts();
  parts.slice = std::make_shared<SaveSlice>(
      SaveSlice{.full_name = whole, .full_shape = {5, 2}, .offset = {row, 0}, .shape = {rows, 2}});
  return Variable(std::make_shared<VariableParts>(parts));
}

void build_parts(Graph& g) {
  Collection variables;
  for (const bool resource : {false, true}) {
    const std::string name = resource ? "r" : "p";
    {
      const DeviceScope device(g, "/cpu:0");
      variables.push_back(part(g, name, 0, 0, 3, resource));
    }
    const DeviceScope device(g, "/cpu:1");
    variables.push_back(part(g, name, 1, 3, 2, resource));
  }
  g.set_collection(keys::kGlobalVariables, std::move(variables));
}

void build_on_jobs(Graph& g) {
  const bool resource[] = {false, true};
  int number = 0;
  for (const char* device :
       {"/job:ps/task:1", "/job:ps/replica:0/task:0/cpu:1", "/job:worker/task:0/gpu:2", ""})
    for (const bool kind : resource) {
      const DeviceScope scope(g, device);
      variable(g, Tensor::vector<float>({1, 2}), cat("v", number++), {.use_resource = kind});
    }
}

}  // namespace

int main(int count, char** arguments) try {
  if (count != 4) return 2;
  const std::string kind = arguments[1], from = arguments[2], to = arguments[3];
  Graph g;
  if (kind == "jobs") {
    build_on_jobs(g);
    Saver(g, {.reshape = true, .sharded = true}).export_meta_graph({.filename = to});
    return 0;
  }
  kind == "sharded" ? build_whole(g) : build_parts(g);
  Saver saver(g, {.sharded = kind != "parts"});
  Session session(g);
  session.run(initialize_global_variables(g));
  if (from != "-") saver.restore(session, from);
  saver.save(session, to);
  return 0;
} catch (const Error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
