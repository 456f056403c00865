// Savers and `.meta` files: going on with graphs that TensorFlow wrote, and with our own.
#include <doctest/doctest.h>

#include "graph/graph.h"
#include "graph/io/memory_file_system.h"
#include "graph/log.h"
#include "ops/ops.h"
#include "tests/graph/thrown.h"
#include "tests/train/checkpoint_golden.h"
#include "train/train.h"

using namespace runnel;

namespace {

// A line fitted by Adam; all of its state is in variables.
void build_line(Graph& g) {
  const Variable w = variable(g, Tensor::vector<float>({0.5f}), "w");
  const Output x = constant(g, Tensor::vector<float>({0.1f, 0.7f, -0.3f}));
  const Output y = constant(g, Tensor::vector<float>({0.3f, 0.4f, 0.2f}));
  Adam(0.01f).minimize(reduce_mean(square(w * x - y), {.name = "loss"}),
                       {.global_step = get_or_create_global_step(g)});
}

void train(Session& session, int steps) {
  const Operation step = session.graph().operation("Adam");
  for (int i = 0; i < steps; ++i) session.run(step);
}

}  // namespace

TEST_CASE("training goes on from TensorFlow's graph and checkpoint, for both kinds of variables") {
  for (const char* name : {"linear_ref", "linear_resource"}) {
    CAPTURE(name);
    Graph g;
    const std::string prefix = golden(name) + "/linear.ckpt-100";
    Saver saver = import_meta_graph(g, prefix + ".meta");
    Session session(g);
    saver.restore(session, prefix);
    const Variable weight = g.variables()[0], bias = g.variables()[1];
    CHECK(weight.name() == "weight");
    CHECK(session.get<float>(weight) == 0x1.9bf902p-4f);
    CHECK(session.get<float>(bias) == 0x1.32e38ep-2f);
    const Output loss = g.output("Mean:0");
    const float before = session.run(loss).scalar<float>();
    for (int i = 0; i < 50; ++i) session.run(g.operation("GradientDescent"));
    CHECK(session.run(loss).scalar<float>() < before);
  }
}

TEST_CASE("Adam straight on and Adam saved, restored elsewhere and trained on give the same bits") {
  MemoryFileSystem files;
  Graph straight;
  build_line(straight);
  Session whole(straight);
  whole.run(initialize_global_variables(straight));
  train(whole, 20);
  {
    Graph g;
    build_line(g);
    Saver saver(g);
    Session session(g, {.file_system = &files});
    session.run(initialize_global_variables(g));
    train(session, 10);
    saver.save(session, "d/m", {.global_step = get_global_step(g)});
  }
  Graph g;
  Saver saver = import_meta_graph(g, "d/m-10.meta", {.file_system = &files});
  Session session(g, {.file_system = &files});
  saver.restore(session, "d/m-10");
  train(session, 10);
  for (const Variable& v : straight.variables()) {
    CAPTURE(v.name());
    CHECK(session.run(g.output(v.name() + ":0")) == whole.run(v));
  }
  CHECK(session.run(g.output("global_step:0")).scalar<std::int64_t>() == 20);
}

TEST_CASE("a second optimizer over imported slots is refused unless it has another name") {
  Graph g;
  build_line(g);
  Graph imported;
  import_meta_graph_def(imported, export_meta_graph_def(g));
  const Variable w = imported.variables()[0];
  const Output loss = imported.output("loss:0");
  CHECK(message_of<InvalidArgument>([&] { Adam(0.1f).minimize(loss); }) ==
        "the graph was imported with the state of an optimizer 'Adam' already ('w/Adam'): run the train op "
        "that "
        "came with it (collection train_op), or give this optimizer another name, and its state starts anew");
  CHECK_NOTHROW(Adam(0.1f, {.name = "Fresh"}).minimize(loss));
  CHECK(imported.find("w/Fresh") != nullptr);
  CHECK(imported.find("w/Adam_2") == nullptr);
}

TEST_CASE("an imported saver keeps its rule and its names") {
  MemoryFileSystem files;
  {
    Graph g;
    variable(g, 1.0f, "v");
    Saver saver(g, {.max_to_keep = 1, .name = "keeper"});
    Session session(g, {.file_system = &files});
    session.run(initialize_global_variables(g));
    saver.save(session, "d/m", {.global_step = 1});
  }
  Graph g;
  Saver saver = import_meta_graph(g, "d/m-1.meta", {.file_system = &files});
  Session session(g, {.file_system = &files});
  saver.restore(session, "d/m-1");
  CHECK(saver.nodes().restore.name() == "keeper/restore_all");
  saver.save(session, "d/m", {.global_step = 2});
  CHECK(files.list("d").size() == 4);
}

TEST_CASE("a meta graph without a saver gets a new one of its variables, or none and a line in the log") {
  MemoryFileSystem files;
  Graph g;
  constant(g, Tensor::scalar(1.0f));
  export_meta_graph(g, {.filename = "none.meta", .file_system = &files});
  variable(g, 1.0f, "v");
  export_meta_graph(g, {.filename = "some.meta", .file_system = &files});
  Graph empty, other;
  std::string logged;
  const ScopedLogSink sink([&](LogLevel, const std::string& line) { logged = line; });
  ImportedMetaGraph none = import_meta_graph(empty, "none.meta", {.file_system = &files});
  CHECK_FALSE(none.has_saver());
  CHECK(logged ==
        "the meta graph has no saver, and the graph no variables to make one of: there is no Saver");
  CHECK(message_of<InvalidArgument>([&] { none.saver(); }).starts_with("the meta graph has no saver"));
  CHECK(import_meta_graph(other, "some.meta", {.file_system = &files}).saver().nodes().restore.name() ==
        "save/restore_all");
}

TEST_CASE("a wrong path or file is named when a meta graph is imported") {
  MemoryFileSystem files;
  put_file(files, "m.meta", "\x01\x02 no graph");
  Graph g;
  CHECK(message_of<NotFound>([&] { import_meta_graph(g, "m", {.file_system = &files}); }) ==
        "there is no 'm': pass 'm.meta', the graph of that checkpoint");
  CHECK_THROWS_AS(import_meta_graph(g, "other.meta", {.file_system = &files}), NotFound);
  CHECK(message_of<DataLoss>([&] {
          import_meta_graph(g, "m.meta", {.file_system = &files});
        }).starts_with("'m.meta': "));
  CHECK(g.size() == 0);
}

TEST_CASE("a graph over 2 GB is refused before a save touches any file") {
  Tensor large(DType::kFloat, {1 << 28});  // 1 GiB, of which one page is ever written
  large.mutable_values<float>()[0] = 1;
  large.mutable_values<float>()[1] = 2;
  MemoryFileSystem files;
  Graph g;
  variable(g, 1.0f, "v");
  for (const char* name : {"a", "b"}) constant(g, large, {.name = name});
  Saver saver(g);
  Session session(g, {.file_system = &files});
  session.run(initialize_global_variables(g));
  CHECK(message_of<InvalidArgument>([&] { saver.save(session, "d/m"); }) ==
        "the constants of the graph take 2147483648 bytes, the largest, 'a', 1073741824; the most is 2 GB: "
        "keep large values in variables");
  CHECK_FALSE(files.exists("d"));
  CHECK(saver.save(session, "d/m", {.write_meta_graph = false}) == "d/m");
}
