// Adds Runnel's gradients to graphs that TensorFlow made, for test_ops.py. Usage: differentiate FILE, a job a
// line: "IN.pb OUT.pb ys xs grad_ys", each of the three a list of tensors with commas between; grad_ys may be
// "-", or have "-" for a y that starts with ones. Prints a line a job: "ok" and, for each x, its gradient's
// tensors with commas between (rows have two, values and indices) or "-"; or "error" and why.
#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>

#include "graph/graph.h"
#include "ops/ops.h"

using namespace runnel;

namespace {

Outputs tensors(Graph& graph, const std::string& list) {
  Outputs out;
  std::istringstream names(list);
  for (std::string name; std::getline(names, name, ',');)
    out.push_back(name == "-" ? Output() : graph.output(name));
  return out;
}

std::string names(const Grad& gradient) {
  if (!gradient) return "-";
  if (const IndexedSlices* rows = gradient.slices()) return rows->values.name() + "," + rows->indices.name();
  return gradient.dense().name();
}

std::string differentiate(std::istream& words) {
  std::string in, out, ys, xs, grad_ys;
  words >> in >> out >> ys >> xs >> grad_ys;
  Graph graph;
  graph.import_graph_def(read_file(real_file_system(), in));
  std::vector<Source> sources;
  for (const Output& x : tensors(graph, xs)) sources.emplace_back(x);
  GradientsOptions options{.name = "ours"};
  if (grad_ys != "-") options.grad_ys = tensors(graph, grad_ys);
  std::string result = "ok";
  for (const Grad& gradient : gradients(tensors(graph, ys), sources, options))
    result.append(" ").append(names(gradient));
  std::ofstream(out, std::ios::binary) << graph.to_graph_def();
  return result;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return 2;
  std::ifstream jobs(arguments[1]);
  for (std::string line; std::getline(jobs, line);) {
    std::istringstream words(line);
    try {
      std::cout << differentiate(words) << std::endl;
    } catch (const Error& error) {
      std::cout << "error " << error.what() << std::endl;
    }
  }
  return 0;
}
