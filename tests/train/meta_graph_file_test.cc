// `.meta` files written and read with their savers: under scopes, without other savers, through faults.
#include <doctest/doctest.h>

#include <filesystem>

#include "graph/graph.h"
#include "graph/log.h"
#include "ops/ops.h"
#include "tests/graph/scratch_directory.h"
#include "tests/graph/thrown.h"
#include "tests/train/checkpoint_golden.h"
#include "tests/train/faulty_disk.h"
#include "train/train.h"

using namespace runnel;

namespace {

std::vector<std::string> names_in(Session& session, Output names) {
  const Tensor value = session.run(names);
  const auto list = value.values<std::string>();
  return {list.begin(), list.end()};
}

}  // namespace

TEST_CASE("two imports under scopes are restored, trained and saved apart, for both kinds of variables") {
  for (const char* name : {"linear_ref", "linear_resource"}) {
    CAPTURE(name);
    const std::string prefix = golden(name) + "/linear.ckpt-100";
    const ScratchDirectory scratch;
    Graph g;
    ImportedMetaGraph a = import_meta_graph(g, prefix + ".meta", {.import_scope = "a"});
    ImportedMetaGraph b = import_meta_graph(g, prefix + ".meta", {.import_scope = "b"});
    const Output missing = report_uninitialized_variables(g);
    Session session(g);
    a.saver().restore(session, prefix);
    CHECK(names_in(session, missing) == std::vector<std::string>{"b/weight", "b/biase"});
    b.saver().restore(session, prefix);
    session.run(g.operation("b/GradientDescent"));
    CHECK(session.get<float>(g.variables()[0]) == 0x1.9bf902p-4f);
    CHECK(session.get<float>(g.variables()[2]) != 0x1.9bf902p-4f);
    const CheckpointReader saved(b.saver().save(session, scratch / "m"));
    CHECK(saved.read("weight") == session.run(g.variables()[2]));  // the keys are the file's
  }
}

TEST_CASE("variables of an imported scope make a saver that reads checkpoints of the graph as it was") {
  const std::string prefix = golden("linear_ref") + "/linear.ckpt-100";
  Graph g;
  variable(g, 0.0f, "weight");
  const ImportedMetaGraph m = import_meta_graph(g, prefix + ".meta", {.import_scope = "m2"});
  REQUIRE(m.variables().size() == 2);
  CHECK(m.scope() == "m2/");
  CHECK(m.variables()[0].key() == "weight");
  Saver saver(g, m.variables(), {.name = "another"});
  Session session(g);
  saver.restore(session, prefix);
  CHECK(session.get<float>(m.variables()[0].variable()) == 0x1.9bf902p-4f);
}

TEST_CASE("a saver exported with its scope comes in with it elsewhere") {
  MemoryFileSystem files;
  Graph g, other;
  std::optional<Saver> saver;
  {
    const NameScope scope(g, "part");
    const Variable v = variable(g, 1.0f, "v");
    saver.emplace(g, std::initializer_list<SaverItem>{{"v", v}});
  }
  Session session(g, {.file_system = &files});
  session.run(initialize_global_variables(g));
  saver->save(session, "c", {.write_meta_graph = false});
  saver->export_meta_graph({.filename = "c.meta", .export_scope = "part", .file_system = &files});
  ImportedMetaGraph whole =
      import_meta_graph(other, "c.meta", {.import_scope = "whole", .file_system = &files});
  CHECK(whole.saver().nodes().restore.name() == "whole/save/restore_all");
  Session again(other, {.file_system = &files});
  whole.saver().restore(again, "c");
  CHECK(again.get<float>(other.variables()[0]) == 1.0f);
}

TEST_CASE("savers that are not the one exported leave neither nodes nor SaverDefs") {
  Graph g, out, none;
  variable(g, 1.0f, "v");
  const Saver first(g), second(g);
  for (const Saver* saver : {&first, &second}) g.add_to_collection(keys::kSavers, saver->saver_def());
  import_meta_graph_bytes(out, second.export_meta_graph({.clear_extraneous_savers = true}));
  CHECK(out.find("save_1/SaveV2"));
  CHECK_FALSE(out.find("save/SaveV2"));
  CHECK_FALSE(out.find("save/Const"));
  CHECK(out.collection(keys::kSavers) == Collection{second.saver_def()});
  import_meta_graph_bytes(none, export_meta_graph(g, {.clear_extraneous_savers = true}));
  CHECK(none.collection(keys::kSavers).empty());
  CHECK(none.find("v/read"));
  CHECK(none.find("save/SaveV2"));  // a new saver, of what is left
  CHECK_FALSE(none.find("save_1/SaveV2"));
}

TEST_CASE("the file of an export is the old one or the new one, whatever operation fails") {
  for (const Fault fault : kFailures)
    for (int nth = 1;; ++nth) {
      CAPTURE(nth);
      FaultyDisk disk;
      Graph g;
      variable(g, 1.0f, "v");
      const std::string before = export_meta_graph(g, {.filename = "d/g.meta", .file_system = &disk.files});
      variable(g, 2.0f, "w");
      const std::string after = export_meta_graph(g);
      const auto outcome = disk.with_fault(
          nth, fault, [&] { export_meta_graph(g, {.filename = "d/g.meta", .file_system = &disk.files}); });
      const std::string found = read_file(disk.memory, "d/g.meta");
      CHECK((found == after || (found == before && !outcome.done)));
      CHECK_FALSE(disk.has_temporaries());
      if (outcome.finished) break;
    }
}

TEST_CASE("a file over 2 GB is refused before it is read") {
  const ScratchDirectory scratch;
  const std::string path = scratch / "large.meta";
  real_file_system().open_for_writing(path, WriteMode::kTruncate)->close();
  std::filesystem::resize_file(path, std::uintmax_t{3} << 30);  // a hole; no disk is taken
  Graph g;
  CHECK(message_of<InvalidArgument>([&] { import_meta_graph(g, path); }) ==
        "'" + path + "' has 3221225472 bytes: a .meta file has less than 2 GB");
}

TEST_CASE("a constant of 70 MB goes into a file and comes out under a scope") {
  MemoryFileSystem files;
  Tensor large(DType::kFloat, {70 << 18});
  for (std::size_t i = 0; float& value : large.mutable_values<float>())
    value = static_cast<float>(i++ % 1009);
  Graph g, other;
  constant(g, large, {.name = "large"});
  export_meta_graph(g, {.filename = "d/large.meta", .file_system = &files});
  CHECK(files.file_size("d/large.meta") > 70u << 20);
  import_meta_graph(other, "d/large.meta", {.import_scope = "m", .file_system = &files});
  CHECK(other.operation("m/large").node().tensor("value") == large);
}
