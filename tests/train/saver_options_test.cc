// Saver's arguments that change what is built, and its lists and SaverDefs.
#include <doctest/doctest.h>

#include <map>

#include "graph/graph.h"
#include "graph/io/memory_file_system.h"
#include "ops/ops.h"
#include "tests/graph/thrown.h"
#include "tests/train/checkpoint_golden.h"
#include "train/train.h"

using namespace runnel;

namespace {

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a deferred saver takes the variables that are there when it is built, once") {
  MemoryFileSystem files;
  Graph g;
  Saver saver(g, {.defer_build = true});
  Session session(g, {.file_system = &files});
  CHECK(g.size() == 0);
  CHECK(saver.saver_def() == "");
  CHECK(message_of<FailedPrecondition>([&] { saver.save(session, "m"); }) ==
        "this Saver cannot save yet: call build() first, which defer_build put off");
  CHECK_THROWS_AS(saver.restore(session, "m"), FailedPrecondition);
  CHECK_THROWS_AS(saver.nodes(), FailedPrecondition);
  CHECK_THROWS_AS(saver.build(), InvalidArgument);
  const Variable v = variable(g, 1.0f, "v");
  saver.build();
  const std::size_t nodes = g.size();
  saver.build();
  CHECK(g.size() == nodes);
  session.run(initialize_global_variables(g));
  CHECK(saver.save(session, "m") == "m");
  CHECK_THROWS_AS(Saver(g, {v}, {.defer_build = true}), InvalidArgument);
}

TEST_CASE("an empty saver that is allowed writes the graph only and restores nothing") {
  MemoryFileSystem files;
  Graph g;
  const Output step = constant(g, Tensor::scalar(3));
  Saver saver(g, {.allow_empty = true});
  Session session(g, {.file_system = &files});
  CHECK(saver.save(session, "d/m", {.global_step = step}) == "");
  CHECK(files.list("d") == Names{"m-3.meta"});
  saver.restore(session, "nothing");
  CHECK(saver.saver_def() == "");
  CHECK(g.size() == 1);
  CHECK_THROWS_AS(Saver{g}, InvalidArgument);
}

TEST_CASE("versions of the format that are not written are refused by name") {
  Graph g;
  variable(g, 1.0f, "v");
  CHECK(message_of<Unimplemented>([&] { Saver(g, {.write_version = WriteVersion::kV1}); }) ==
        "write_version is V1: checkpoints are written in the V2 format only");
  CHECK_THROWS_AS(Saver(g, {.write_version = WriteVersion::kLegacy}), Unimplemented);
}

TEST_CASE("a filename is what a run of the save tensor writes when none is fed") {
  for (const bool sharded : {false, true}) {
    MemoryFileSystem files;
    Graph g;
    variable(g, 1.0f, "v");
    const Saver saver(g, {.sharded = sharded, .restore_sequentially = true, .filename = "run/own"});
    Session session(g, {.file_system = &files});
    session.run(initialize_global_variables(g));
    CHECK(session.run(saver.nodes().save) == Tensor::scalar("run/own"));
    CHECK(files.exists("run/own.index"));
    session.run(saver.nodes().restore);
  }
}

TEST_CASE("variables may be given as a map of names") {
  Graph g;
  const Variable v = variable(g, 1.0f, "v"), w = variable(g, 2, "w");
  const std::map<std::string, Variable> named{{"one", v}, {"two", w}};
  const Saver saver(g, named, {.name = "mapped"});
  CHECK(g.find("mapped/SaveV2/tensor_names")->tensor("value") == Tensor::vector<std::string>({"one", "two"}));
}

TEST_CASE("a SaverDef makes a saver of nodes that are there, also under a scope") {
  Graph g;
  variable(g, 1.0f, "v");
  const Saver first = [&] {
    const NameScope scope(g, "tower");
    return Saver(g, {.max_to_keep = 3});
  }();
  const std::size_t nodes = g.size();
  const std::string inside = first.to_proto("tower");
  CHECK(first.as_saver_def() == first.saver_def());
  CHECK(first.to_proto("other") == "");
  CHECK(Saver(g, {.saver_def = first.saver_def()}).saver_def() == first.saver_def());
  CHECK(Saver::from_proto(g, inside, "tower").saver_def() == first.saver_def());
  CHECK_THROWS_AS(Saver::from_proto(g, inside), InvalidArgument);
  CHECK(g.size() == nodes);
  CHECK(message_of<InvalidArgument>([&] {
          Saver(g, {.saver_def = SaverDef{.filename_tensor = "x:0"}.bytes()});
        }) == "the SaverDef gives no save_tensor_name");
}

TEST_CASE("the list of last checkpoints can be replaced, and what it names is deleted in turn") {
  MemoryFileSystem files;
  Graph g;
  variable(g, 1.0f, "v");
  Saver saver(g, {.max_to_keep = 2});
  Session session(g, {.file_system = &files});
  session.run(initialize_global_variables(g));
  saver.save(session, "d/old", {.write_state = false});
  saver.save(session, "d/m", {.global_step = 1});
  saver.set_last_checkpoints_with_time(std::vector<KeptCheckpoint>{{"d/old", 1}, {"d/m-1", 2}});
  CHECK(saver.last_checkpoints() == Names{"d/old", "d/m-1"});
  saver.save(session, "d/m", {.global_step = 2});
  CHECK(saver.last_checkpoints() == Names{"d/m-1", "d/m-2"});
  CHECK(!files.exists("d/old.index"));
}

TEST_CASE("a saver exports the graph with itself in it, to a file and as bytes") {
  MemoryFileSystem files;
  Graph g, other;
  variable(g, 1.0f, "v");
  const Saver saver(g, {.max_to_keep = 3});
  const std::string bytes = saver.export_meta_graph({.filename = "new/d/g.meta", .file_system = &files});
  CHECK(read_file(files, "new/d/g.meta") == bytes);
  CHECK(saver.export_meta_graph() == bytes);
  CHECK(import_meta_graph_def(other, bytes).saver_def == saver.saver_def());
  CHECK(saver.export_meta_graph({.collection_list = std::vector<std::string>{}, .as_text = true})
            .find("collection_def") == std::string::npos);
}
