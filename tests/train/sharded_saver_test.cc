// Savers that write the variables of each device by themselves, and savers of partitioned variables: the
// nodes that TensorFlow's add, and files.
#include <doctest/doctest.h>

#include <cstdint>

#include "graph/graph.h"
#include "graph/io/memory_file_system.h"
#include "ops/ops.h"
#include "tests/graph/thrown.h"
#include "tests/train/checkpoint_golden.h"
#include "tests/train/saver_listing.h"
#include "train/train.h"

using namespace runnel;

namespace {

using Names = std::vector<std::string>;

// The variables of golden/sharded.
void build_on_two_devices(Graph& g) {
  {
    const DeviceScope device(g, "/cpu:0");
    variable(g, Tensor::vector<float>({1, 2}), "a");
    variable(g, Tensor::matrix<int>({{3, 4}}), "c");
  }
  const DeviceScope device(g, "/cpu:1");
  variable(g, Tensor::vector<float>({5}), "b");
  variable(g, 6.0f, "d", {.use_resource = true});
}

// Rows of a tensor of shape [3, 2], from row `first` on, as a variable.
SaverItem part(Graph& g, const std::string& whole, int first, const Tensor& rows, bool resource) {
  const Variable v = variable(g, rows, cat(whole, "/part_", first), {.use_resource = resource});
  return {v, {.full_name = whole, .full_shape = {3, 2}, .offset = {first, 0}, .shape = {rows.shape()[0], 2}}};
}

}  // namespace

TEST_CASE("a sharded saver adds the nodes that TensorFlow's adds") {
  Graph theirs, ours;
  import_meta_graph(theirs, golden("sharded/shard.ckpt-7.meta"));
  build_on_two_devices(ours);
  const Saver saver(ours, {.sharded = true});
  CHECK(saver_nodes(ours) == saver_nodes(theirs));
  CHECK(saver.saver_def() == Saver::from_saver_def(theirs, saver.saver_def()).saver_def());
}

TEST_CASE("a saver of partitioned variables adds the nodes that TensorFlow's adds") {
  Graph g;
  import_meta_graph(g, golden("partitioned/part.ckpt.meta"));
  const Saver saver(g, {.name = "ours"});
  CHECK(saver_nodes(g, "ours") == saver_nodes(g));
}

TEST_CASE("a sharded save is one checkpoint of two data files, as TensorFlow's, and is restored") {
  MemoryFileSystem files;
  Graph g;
  build_on_two_devices(g);
  Saver saver(g, {.sharded = true}), plain(g);
  Session session(g, {.file_system = &files});
  session.run(initialize_global_variables(g));
  saver.save(session, "d/shard.ckpt", {.global_step = 7});
  for (const char* suffix : {".index", ".data-00000-of-00002", ".data-00001-of-00002"})
    CHECK(read_file(files, cat("d/shard.ckpt-7", suffix)) ==
          golden_bytes(cat("sharded/shard.ckpt-7", suffix)));
  CHECK(files.list("d").size() == 5);
  for (Saver* one : {&saver, &plain}) {
    session.run(assign(g.variables()[2], Tensor::vector<float>({0})));
    one->restore(session, "d/shard.ckpt-7");
    CHECK(session.run(g.variables()[2]) == Tensor::vector<float>({5}));
  }
}

TEST_CASE("a sharded save over another leaves its own files only, and retention deletes all of them") {
  MemoryFileSystem files;
  Graph g;
  build_on_two_devices(g);
  Saver saver(g, {.sharded = true, .max_to_keep = 1});
  Session session(g, {.file_system = &files});
  session.run(initialize_global_variables(g));
  for (int i = 0; i < 3; ++i) saver.save(session, "d/m", {.write_meta_graph = false});
  CHECK(files.list("d") == Names{"checkpoint", "m.data-00000-of-00002", "m.data-00001-of-00002", "m.index"});
  saver.save(session, "d/m", {.write_meta_graph = false});
  CHECK(files.list("d") == Names{"checkpoint", "m.data-00000-of-00003", "m.data-00001-of-00003", "m.index"});
  saver.restore(session, "d/m");
  saver.save(session, "d/n", {.write_meta_graph = false});
  CHECK(files.list("d") == Names{"checkpoint", "n.data-00000-of-00002", "n.data-00001-of-00002", "n.index"});
}

TEST_CASE("TensorFlow's sharded saver saves and restores here") {
  MemoryFileSystem files;
  Graph g;
  Saver saver = import_meta_graph(g, golden("sharded/shard.ckpt-7.meta"));
  Session session(g, {.file_system = &files}), real(g);
  saver.restore(real, golden("sharded/shard.ckpt-7"));
  CHECK(real.run(g.output("b:0")) == Tensor::vector<float>({5}));
  session.run(g.operation("init"));
  saver.save(session, "m");
  CHECK(read_file(files, "m.index") == golden_bytes("sharded/shard.ckpt-7.index"));
}

TEST_CASE("parts are saved as parts of one tensor and restored from others, on devices of their own too") {
  for (const bool resource : {false, true})
    for (const bool sharded : {false, true}) {
      CAPTURE(resource);
      CAPTURE(sharded);
      MemoryFileSystem files;
      Graph g;
      const SaverItem one = part(g, "v", 0, Tensor::matrix<float>({{1, 2}}), resource);
      const DeviceScope device(g, "/cpu:1");
      const SaverItem two = part(g, "v", 1, Tensor::matrix<float>({{3, 4}, {5, 6}}), resource);
      const Variable whole = variable(g, Tensor::zeros(DType::kFloat, {3, 2}), "whole");
      Saver parts(g, {two, one}, {.sharded = sharded}), all(g, {{"v", whole}});
      Session session(g, {.file_system = &files});
      session.run(initialize_global_variables(g));
      parts.save(session, "m");
      CHECK(CheckpointReader("m", {.file_system = &files}).variables() ==
            std::vector<VariableInfo>{{"v", DType::kFloat, Shape{3, 2}}});
      all.restore(session, "m");
      CHECK(session.run(whole) == Tensor::matrix<float>({{1, 2}, {3, 4}, {5, 6}}));
      session.run(assign(whole, Tensor::matrix<float>({{1, 2}, {7, 8}, {9, 0}})));
      all.save(session, "whole");
      parts.restore(session, "whole");
      CHECK(session.run(two.variable()) == Tensor::matrix<float>({{7, 8}, {9, 0}}));
    }
}

TEST_CASE("parts of two tensors, and a part and a whole, do not go under one name") {
  Graph g;
  const SaverItem a = part(g, "a", 0, Tensor::matrix<float>({{1, 2}}), false);
  const SaverItem b = part(g, "b", 1, Tensor::matrix<float>({{1, 2}}), false);
  const Variable whole = variable(g, 1.0f, "whole");
  CHECK(message_of<InvalidArgument>([&] {
          Saver(g, {{"x", a.variable()}, {"x", b.variable()}});
        }) ==
        "'x' is given parts of the tensor 'a' [3,2] and of the tensor 'b' [3,2]: parts under one name must "
        "be of one tensor");
  CHECK_THROWS_AS(Saver(g, {{"a", whole}, a}), InvalidArgument);
  CHECK_THROWS_AS(Saver(g, {{"a", whole}, {"a", a.variable()}}), InvalidArgument);
}

TEST_CASE("a sharded restore that does not fit names every difference and assigns nothing") {
  MemoryFileSystem files;
  CheckpointWriter writer("m", {.file_system = &files});
  writer.add("a", Tensor::vector<float>({7, 7}));
  writer.add("b", Tensor::vector<float>({1, 2}));
  writer.add("c", Tensor::matrix<float>({{3, 4}}));
  writer.finish();
  Graph g;
  build_on_two_devices(g);
  Saver saver(g, {.sharded = true});
  Session session(g, {.file_system = &files});
  session.run(initialize_global_variables(g));
  const std::string message = message_of<NotFound>([&] { saver.restore(session, "m"); });
  for (const char* part : {"'b': stored float[2]", "'c': stored float[1,2]", "'d': not stored"})
    CHECK(message.find(part) != std::string::npos);
  CHECK(session.run(g.output("a:0")) == Tensor::vector<float>({1, 2}));
}

TEST_CASE("a part that does not lie within its whole is refused, whatever a .meta says") {
  Graph g;
  const Variable v = variable(g, Tensor::matrix<float>({{1, 2}}), "v");
  CHECK(
      message_of<InvalidArgument>([&] {
        Saver(g, {SaverItem(v, {.full_name = "w", .full_shape = {3, 2}, .offset = {3, 0}, .shape = {1, 2}})});
      }) ==
      "variable 'v' of shape [1,2] is said to be a part of 'w' that does not fit: offset [3,0], shape [1,2], "
      "of "
      "[3,2]");
  for (const SaveSlice& wrong :
       {SaveSlice{"w", {3, 2}, {0, 0, 0}, {1, 2}}, SaveSlice{"w", {3, 2}, {0, 0}, {1}},
        SaveSlice{"w", {3}, {0, 0}, {1, 2}}, SaveSlice{"w", {3, 2}, {-1, 0}, {1, 2}},
        SaveSlice{"w", {3, 2}, {0, 0}, {2, 2}}, SaveSlice{"w", {3, 2}, {0, 0}, {-1, 2}},
        SaveSlice{"w", {3, 2}, {INT64_MAX, 0}, {1, 2}}})
    CHECK_THROWS_AS(Saver(g, {SaverItem(v, wrong)}), InvalidArgument);
}
