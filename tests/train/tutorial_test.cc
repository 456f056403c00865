// What the tutorials of the seeds do and say that no other test does: paths, the log, scopes, the graph's
// picture.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/io/memory_file_system.h"
#include "graph/log.h"
#include "ops/ops.h"
#include "runnel/event.pb.h"
#include "summary/summary.h"
#include "tests/summary/reading.h"
#include "train/train.h"

using namespace runnel;

namespace {

// y = 0.1 x + 0.3 learned by gradient descent, in scopes or without.
struct Line {
  explicit Line(bool scopes) {
    const NameScope linear(g, scopes ? "linear" : "");
    weight = variable(g, Tensor::vector<float>({-0.5f}), "Variable");
    bias = variable(g, Tensor::vector<float>({0}), "bias");
    const Tensor x = Tensor::vector<float>({0, 0.25f, 0.5f, 0.75f});
    const Output error = weight * x + bias - Tensor::vector<float>({0.3f, 0.325f, 0.35f, 0.375f});
    const NameScope descent(g, scopes ? "gradient_descent" : "");
    loss = reduce_mean(square(error), {.name = "loss"});
    train = GradientDescent(0.5f).minimize(loss);
    init = initialize_global_variables(g);
  }
  // The bits of both variables after ten steps.
  std::vector<Tensor> trained() {
    Session s(g);
    s.run(init);
    for (int i = 0; i < 10; ++i) s.run(train);
    return {s.run(weight), s.run(bias)};
  }
  Graph g;
  Variable weight, bias;
  Output loss;
  Operation train, init;
};

// The GraphDef in the only event file of a directory.
std::string graph_in(FileSystem& files, const std::string& directory) {
  for (const pb::Event& event : events_in(files, directory))
    if (event.has_graph_def()) return event.graph_def();
  return "";
}

}  // namespace

TEST_CASE("a path may begin with ./ and need not end in .ckpt") {
  MemoryFileSystem files;
  Line line(false);
  Session s(line.g, {.file_system = &files});
  s.run(line.init);
  Saver saver(line.g);
  CHECK(saver.save(s, "./weight/linear") == "./weight/linear");
  CHECK(saver.save(s, "./weight/linear", {.global_step = 90}) == "./weight/linear-90");
  CHECK(latest_checkpoint("./weight", {.file_system = &files}) == "./weight/linear-90");
  for (const char* path : {"./weight/linear", "weight/linear", "./weight/linear-90"}) {
    s.run(assign(line.weight, Tensor::vector<float>({33})));
    saver.restore(s, path);
    CHECK(s.run(line.weight) == Tensor::vector<float>({-0.5f}));
  }
}

TEST_CASE("each restore is logged with its path, one that finds nothing is not") {
  MemoryFileSystem files;
  Line line(false);
  Session s(line.g, {.file_system = &files});
  s.run(line.init);
  Saver saver(line.g);
  saver.save(s, "d/m");
  std::vector<std::string> said;
  const ScopedLogSink sink([&](LogLevel, const std::string& text) { said.push_back(text); });
  saver.restore(s, "d/m");
  saver.restore(s, "d/m");
  CHECK_THROWS_AS(saver.restore(s, "d/n"), NotFound);
  CHECK(said == std::vector<std::string>(2, "Restoring parameters from d/m"));
}

TEST_CASE("scopes change names, not results") {
  Line plain(false), scoped(true);
  CHECK(plain.loss.name() == "loss:0");
  CHECK(scoped.loss.name() == "linear/gradient_descent/loss:0");
  CHECK(plain.trained() == scoped.trained());
}

TEST_CASE("a graph added before a run and one added after are the same") {
  MemoryFileSystem files;
  Line line(true);
  const auto write = [&](const std::string& directory) {
    FileWriter writer(directory, {.files = &files});
    writer.add_graph(line.g);
    writer.close();
  };
  write("before");
  line.trained();
  write("after");
  CHECK(!graph_in(files, "before").empty());
  CHECK(graph_in(files, "before") == graph_in(files, "after"));
}

TEST_CASE("a session refuses a node of another graph") {
  Line mine(false), other(false);
  Session s(mine.g);
  CHECK_THROWS_AS(s.run(other.loss), InvalidArgument);
  CHECK_THROWS_AS(s.run(other.init), InvalidArgument);
}

TEST_CASE("an element of a variable is fetched by its index") {
  Line line(false);
  Session s(line.g);
  s.run(line.init);
  CHECK(s.run(line.weight[0]).scalar<float>() == -0.5f);
}
