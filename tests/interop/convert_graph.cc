// Reads a graph file and writes it again, for test_graph_def.py. Usage: convert_graph IN OUT, both .meta or
// both .pb.
#include <cstdio>
#include <string>

#include "graph/graph.h"

using namespace runnel;

int main(int count, char** arguments) {
  if (count != 3) return 2;
  try {
    const std::string in = arguments[1], out = arguments[2], bytes = read_file(real_file_system(), in);
    Graph graph;
    if (in.ends_with(".meta")) {
      const MetaGraphInfo info = import_meta_graph_def(graph, bytes);
      write_file_atomically(real_file_system(), out,
                            export_meta_graph_def(graph, {.saver_def = info.saver_def}));
    } else {
      graph.import_graph_def(bytes);
      write_file_atomically(real_file_system(), out, graph.to_graph_def({.add_shapes = true}));
    }
    return 0;
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
