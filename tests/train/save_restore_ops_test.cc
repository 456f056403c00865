// SaveV2, RestoreV2 and ShardedFilename in sessions, over files in memory.
#include "train/checkpoint/save_restore_ops.h"

#include <doctest/doctest.h>

#include "graph/graph.h"
#include "graph/io/memory_file_system.h"
#include "ops/ops.h"
#include "tests/graph/thrown.h"
#include "tests/train/checkpoint_golden.h"
#include "train/checkpoint/checkpoint_reader.h"
#include "train/checkpoint/checkpoint_writer.h"

using namespace runnel;

namespace {

// Restores one tensor of "m".
Tensor restore_one(FileSystem& files, const CheckpointKey& key, DType type) {
  Graph g;
  Session session(g, {.file_system = &files});
  return session.run(restore_v2(constant(g, Tensor::scalar("m")), {key}, {type})[0]);
}

}  // namespace

TEST_CASE("SaveV2 writes what RestoreV2 reads, for numbers, strings and no elements") {
  MemoryFileSystem files;
  Graph g;
  const Tensor numbers = Tensor::matrix<float>({{1, 2}, {3, 4}}), none = Tensor(DType::kInt32, Shape{0, 3}),
               texts = Tensor::vector<std::string>({"a", "", std::string(300, 'x')});
  Session session(g, {.file_system = &files});
  session.run(save_v2(constant(g, Tensor::scalar("m")), {{"n"}, {"none"}, {"t"}},
                      {constant(g, numbers), constant(g, none), constant(g, texts)}));
  CHECK(restore_one(files, {"n"}, DType::kFloat) == numbers);
  CHECK(restore_one(files, {"none"}, DType::kInt32) == none);
  CHECK(restore_one(files, {"t"}, DType::kString) == texts);
}

TEST_CASE("parts are saved as parts of one tensor, and any part can be restored") {
  MemoryFileSystem files;
  Graph g;
  Session session(g, {.file_system = &files});
  session.run(save_v2(
      constant(g, Tensor::scalar("m")), {{"v", "3 2 0,1:0,2"}, {"v", "3 2 1,2:0,2"}},
      {constant(g, Tensor::matrix<int>({{1, 2}})), constant(g, Tensor::matrix<int>({{3, 4}, {5, 6}}))}));
  CHECK(restore_one(files, {"v"}, DType::kInt32) == Tensor::matrix<int>({{1, 2}, {3, 4}, {5, 6}}));
  CHECK(restore_one(files, {"v", "3 2 0,2:1,1"}, DType::kInt32) == Tensor::matrix<int>({{2}, {4}}));
  CHECK(restore_v2(constant(g, Tensor::scalar("m")), {{"v", "3 2 0,2:1,1"}}, {DType::kInt32})[0].shape() ==
        Shape{2, 1});
}

TEST_CASE("variables are saved as they are after the writes that come before") {
  for (const bool resource : {false, true}) {
    MemoryFileSystem files;
    Graph g;
    const Variable v = variable(g, 1.0f, "v", {.use_resource = resource});
    Session session(g, {.file_system = &files});
    session.run(initialize_global_variables(g));
    const Operation add = assign_add(v, 2.0f).node();
    Operation save;
    {
      const ControlDependencies after(g, {add});
      const Output value = resource
                               ? Output(g.add("ReadVariableOp", {v.parts().variable}, {{"dtype", v.dtype()}}))
                               : v.parts().variable;
      save = save_v2(constant(g, Tensor::scalar("m")), {{"v"}}, {value});
    }
    session.run(save);
    CHECK(restore_one(files, {"v"}, DType::kFloat).scalar<float>() == 3);
  }
}

TEST_CASE("restoring as another dtype is refused instead of taking the bytes") {
  MemoryFileSystem files;
  CheckpointWriter writer("m", {.file_system = &files});
  writer.add("step", Tensor::scalar(5));
  writer.finish();
  CHECK(message_of<InvalidArgument>([&] { restore_one(files, {"step"}, DType::kFloat); }) ==
        "RestoreV2 'RestoreV2': 'step' is stored as int32 in 'm', wanted as float");
}

TEST_CASE("lists of names that do not match the tensors are refused while the graph is being built") {
  Graph g;
  const Output prefix = constant(g, Tensor::scalar("m"), {.name = "prefix"});
  CHECK(message_of<InvalidArgument>([&] {
          save_v2(prefix, {{"a"}, {"b"}}, {prefix});
        }) ==
        "SaveV2 'SaveV2': tensor_names has 2 entries for 1 tensors: prefix is string[] (prefix:0), "
        "tensor_names is string[2] (SaveV2/tensor_names:0), shape_and_slices is string[2] "
        "(SaveV2/shape_and_slices:0), tensors[0] is string[] (prefix:0)");
}

TEST_CASE("a shard's name has five digits twice") {
  Graph g;
  Session session(g);
  const auto name = [&](int shard) {
    return session
        .run(sharded_filename(constant(g, Tensor::scalar("d/m")), constant(g, Tensor::scalar(shard)),
                              constant(g, Tensor::scalar(12))))
        .scalar<std::string>();
  };
  CHECK(name(3) == "d/m-00003-of-00012");
  CHECK_THROWS_AS(name(12), InvalidArgument);
}

TEST_CASE(
    "a large value goes to its variable, again in the next step, and stays as fetched when it is fetched "
    "too") {
  constexpr int kMany = 1 << 19;  // two megabytes, read in parts
  for (const bool resource : {false, true}) {
    CAPTURE(resource);
    MemoryFileSystem files;
    std::vector<float> values(kMany);
    for (int i = 0; i < kMany; ++i) values[i] = static_cast<float>(i);
    const Tensor saved = Tensor::vector(values);
    CheckpointWriter writer("m", {.file_system = &files});
    writer.add("v", saved);
    writer.finish();
    Graph g;
    const Variable v = variable(g, Tensor::zeros(DType::kFloat, {kMany}), "v", {.use_resource = resource});
    const Output read = restore_v2(constant(g, Tensor::scalar("m")), {{"v"}}, {DType::kFloat})[0];
    const Operation restore = assign(v, read).node(),
                    add =
                        assign_add(v, constant(g, Tensor::from<float>({kMany}, std::vector<float>(kMany, 1))))
                            .node();
    Session session(g, {.file_system = &files});
    for (int round = 0; round < 2; ++round) {
      session.run(restore);
      CHECK(session.run(v) == saved);
      const Fetch both[] = {read, restore};
      const Tensor fetched = session.run(both)[0];
      session.run(add);
      CHECK(fetched == saved);
      CHECK(session.run(v).values<float>()[kMany - 1] == static_cast<float>(kMany));
    }
  }
}

TEST_CASE("damage in any part of a large value is found, and the variable keeps what it had") {
  MemoryFileSystem files;
  CheckpointWriter writer("m", {.file_system = &files});
  writer.add("v", Tensor::zeros(DType::kFloat, {1 << 19}));
  writer.finish();
  const std::string whole = files.contents().at("m.data-00000-of-00001");
  Graph g;
  const Variable v = variable(g, Tensor::vector<float>({7}), "v", {.validate_shape = false});
  const Operation restore =
      assign(v, restore_v2(constant(g, Tensor::scalar("m")), {{"v"}}, {DType::kFloat})[0]).node();
  Session session(g, {.file_system = &files});
  session.run(initialize_global_variables(g));
  for (const std::size_t at :
       {std::size_t{0}, (std::size_t{1} << 20) - 1, std::size_t{1} << 20, whole.size() - 1}) {
    CAPTURE(at);
    std::string damaged = whole;
    damaged[at] ^= 1;
    write_file_atomically(files, "m.data-00000-of-00001", damaged);
    CHECK_THROWS_AS(session.run(restore), DataLoss);
    CHECK(session.run(v) == Tensor::vector<float>({7}));
  }
}
