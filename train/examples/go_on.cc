// Goes on training a graph that TensorFlow wrote, from its checkpoint, and saves for TensorFlow to go on
// from. usage: go_on PREFIX TRAIN_OP STEPS OUT, e.g. go_on model.ckpt-1000 Adam 500 model.ckpt-1500
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include <runnel/runnel.h>

using namespace runnel;

namespace {

void go_on(const std::string& prefix, const std::string& train_op, long steps, const std::string& out) {
  Graph g;
  Saver saver = import_meta_graph(g, prefix + ".meta");
  const Operation train = g.operation(train_op);
  Session session(g);
  saver.restore(session, prefix);
  for (long i = 0; i < steps; ++i) session.run(train);
  std::printf("saved %s\n", saver.save(session, out).c_str());
}

}  // namespace

int main(int argc, char** argv) {
  const long steps = argc == 5 ? std::atol(argv[3]) : 0;
  if (steps < 1) {
    std::fprintf(stderr, "usage: go_on PREFIX TRAIN_OP STEPS OUT, with at least one step\n");
    return 2;
  }
  try {
    go_on(argv[1], argv[2], steps, argv[4]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "go_on: %s\n", error.what());
    return 1;
  }
}
