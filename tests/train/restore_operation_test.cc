// When a restore needs no run of the graph, and when it does.
#include <doctest/doctest.h>

#include "graph/graph.h"
#include "graph/io/memory_file_system.h"
#include "ops/ops.h"
#include "train/checkpoint/saver_graph.h"
#include "train/train.h"

using namespace runnel;

namespace {

// A file with a and b; a graph with a, b and count, and a session of it.
struct Model {
  explicit Model(bool resource = false) : session(g, {.file_system = &files}) {
    CheckpointWriter writer("m", {.file_system = &files});
    writer.add("a", Tensor::vector<float>({1, 2}));
    writer.add("b", Tensor::vector<float>({3, 4, 5}));
    writer.finish();
    a = variable(g, Tensor::vector<float>({0, 0}), "a", {.use_resource = resource});
    b = variable(g, Tensor::vector<float>({0}), "b", {.validate_shape = false, .use_resource = resource});
    count = variable(g, 0, "count");
    saver.emplace(Saver(g, {a, b}));
    session.run(initialize_global_variables(g));
  }
  // A saver whose restore operation sets the count, too.
  Saver counting() {
    const Operation both[] = {saver->nodes().restore, assign(count, 7).node()};
    SaverDef def = SaverDef::parse(saver->saver_def());
    def.restore_op = group(g, both, {.name = "both"}).name();
    return Saver::from_saver_def(g, def.bytes());
  }
  MemoryFileSystem files;
  Graph g;
  Variable a, b, count;
  std::optional<Saver> saver;
  Session session;
};

}  // namespace

TEST_CASE("a restore makes no plan, and steps see the new values and shapes") {
  for (const bool resource : {false, true}) {
    CAPTURE(resource);
    Model model(resource);
    const Output sum = reduce_sum(model.b.value()), twice = model.a.value() * 2.0f;
    model.session.run(sum);
    model.session.run(twice);
    const std::uint64_t plans = model.session.stats().plans_made;
    model.saver->restore(model.session, "m");
    CHECK(model.session.stats().plans_made == plans);
    CHECK(model.session.get<float>(sum) == 12);
    CHECK(model.session.run(twice) == Tensor::vector<float>({2, 4}));
  }
}

TEST_CASE(
    "a value fetched before a restore stays, and one restored is not changed through the file's tensor") {
  Model model;
  const Tensor before = model.session.run(model.a);
  model.saver->restore(model.session, "m");
  const Tensor restored = model.session.run(model.a);
  model.session.run(assign_add(model.a, Tensor::vector<float>({1, 1})));
  CHECK(before == Tensor::vector<float>({0, 0}));
  CHECK(restored == Tensor::vector<float>({1, 2}));
  CHECK(model.session.run(model.a) == Tensor::vector<float>({2, 3}));
}

TEST_CASE("what a SaverDef's restore operation does besides is done") {
  for (const RestoreOptions& options :
       {RestoreOptions{}, RestoreOptions{.partial = true}, RestoreOptions{.rename = {{"a", "a"}}}}) {
    Model model;
    model.saver.emplace(model.counting());
    CHECK(model.saver->restore(model.session, "m", options).restored == std::vector<std::string>{"a", "b"});
    CHECK(model.session.get<int>(model.count) == 7);
    CHECK(model.session.run(model.a) == Tensor::vector<float>({1, 2}));
  }
}

TEST_CASE("a SaverDef whose RestoreV2 reads other files than it names reads those") {
  Model model;
  const Operation restore = Saver(model.g, {{"a", model.a}}, {.filename = "m"}).nodes().restore;
  SaverDef def = SaverDef::parse(model.saver->saver_def());
  def.restore_op = restore.name();
  CheckpointWriter other("other", {.file_system = &model.files});
  other.add("a", Tensor::vector<float>({8, 9}));
  other.finish();
  Saver::from_saver_def(model.g, def.bytes()).restore(model.session, "other");
  CHECK(model.session.run(model.a) == Tensor::vector<float>({1, 2}));
}

TEST_CASE("a closed session refuses a restore") {
  Model model;
  model.session.close();
  CHECK_THROWS_AS(model.saver->restore(model.session, "m"), FailedPrecondition);
}
