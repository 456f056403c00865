// Graphs under scopes, for test_meta_graphs.py.
//   scope_graph move IN.meta SCOPE OUT.meta          imports under SCOPE and exports all
//   scope_graph cut IN.meta SCOPE OUT.meta           imports and exports SCOPE alone
//   scope_graph train PREFIX SCOPE TARGET STEPS OUT  imports PREFIX.meta under SCOPE, restores, runs
//                                                    SCOPE/TARGET, saves to OUT, and exports SCOPE alone to
//                                                    OUT-scope.meta
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>

#include "graph/graph.h"
#include "train/train.h"

using namespace runnel;

namespace {

using Arguments = std::span<char* const>;

void move(Arguments a) {
  Graph g;
  const Saver saver = import_meta_graph(g, a[0], {.import_scope = a[1]});
  saver.export_meta_graph({.filename = a[2]});
}

void cut(Arguments a) {
  Graph g;
  import_meta_graph(g, a[0]);
  export_meta_graph(g, {.filename = a[2], .export_scope = a[1]});
}

void train(Arguments a) {
  const std::string prefix = a[0], scope = a[1], out = a[4];
  Graph g;
  Saver saver = import_meta_graph(g, prefix + ".meta", {.import_scope = scope});
  Session session(g);
  saver.restore(session, prefix);
  for (int i = std::atoi(a[3]); i > 0; --i) session.run(g.operation(scope + "/" + a[2]));
  saver.save(session, out);
  saver.export_meta_graph({.filename = out + "-scope.meta", .export_scope = scope});
}

}  // namespace

int main(int count, char** arguments) try {
  const std::string verb = count > 1 ? arguments[1] : "";
  const Arguments rest(arguments + std::min(count, 2), arguments + count);
  if (verb == "move" && rest.size() == 3) {
    move(rest);
  } else if (verb == "cut" && rest.size() == 3) {
    cut(rest);
  } else if (verb == "train" && rest.size() == 5) {
    train(rest);
  } else {
    return 2;
  }
  return 0;
} catch (const Error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
