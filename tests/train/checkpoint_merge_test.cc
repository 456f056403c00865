// Joining checkpoints: TensorFlow's bytes, what is refused, and merges that fail, are killed or lose power at
// every single file operation.
#include "train/checkpoint/checkpoint_merge.h"

#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <vector>

#include "tests/graph/thrown.h"
#include "tests/train/checkpoint_golden.h"
#include "tests/train/faulty_disk.h"
#include "train/checkpoint/checkpoint_reader.h"
#include "train/checkpoint/checkpoint_recovery.h"
#include "train/checkpoint/checkpoint_writer.h"

using namespace runnel;

namespace {

using Names = std::vector<std::string>;

void save(FileSystem& files, const std::string& prefix, const std::string& name, int value) {
  CheckpointWriter writer(prefix, {.file_system = &files});
  writer.add(name, Tensor::scalar(value));
  writer.finish();
}

// As a sharded save of two parts does it.
void save_parts(FileSystem& files, const std::string& prefix, int value) {
  const Names parts{prefix + "_temp/part-00000-of-00002", prefix + "_temp/part-00001-of-00002"};
  save(files, parts[0], "v", value);
  save(files, parts[1], "w", value);
  merge_checkpoints(parts, prefix, {.file_system = &files});
}

// The value of both; throws if they do not belong together.
int load(FileSystem& files, const std::string& prefix) {
  const CheckpointReader reader(prefix, {.file_system = &files});
  const int value = reader.read("v").scalar<int>();
  if (reader.read("w").scalar<int>() != value) throw DataLoss("mixed");
  return value;
}

void clean_up(FileSystem& files) {
  clean_up_interrupted_saves(files, "d", "m");
  remove_parts_of_interrupted_saves(files, "d/m");
}

}  // namespace

TEST_CASE("a merge makes the bytes that TensorFlow makes, parts of one tensor joined") {
  MemoryFileSystem files;
  CheckpointWriter one("p1", {.file_system = &files}), two("p2", {.file_system = &files});
  one.add("x", Tensor::vector<float>({1, 2}));
  one.add("s", Tensor::vector<std::string>({"a", ""}));
  two.add("y", Tensor::vector<std::int64_t>({7}));
  two.add("w", *parse_slice_spec("4 0,2"), Tensor::vector<int>({1, 2}));
  two.add("w", *parse_slice_spec("4 2,2"), Tensor::vector<int>({3, 4}));
  one.finish();
  two.finish();
  merge_checkpoints(Names{"p1", "p2"}, "merged.ckpt", {.file_system = &files});
  for (const char* suffix : {".index", ".data-00000-of-00002", ".data-00001-of-00002"})
    CHECK(read_file(files, cat("merged.ckpt", suffix)) == golden_bytes(cat("merged/merged.ckpt", suffix)));
  CHECK(files.list(".").size() == 3);
}

TEST_CASE("parts of one tensor may lie in several checkpoints") {
  MemoryFileSystem files;
  for (const int row : {0, 1}) {
    CheckpointWriter writer(cat("p", row), {.file_system = &files});
    writer.add("w", *parse_slice_spec(cat("2 2 ", row, ",1:0,2")), Tensor::matrix<int>({{row, 5}}));
    writer.finish();
  }
  merge_checkpoints(Names{"p0", "p1"}, "m", {.file_system = &files});
  CHECK(CheckpointReader("m", {.file_system = &files}).read("w") == Tensor::matrix<int>({{0, 5}, {1, 5}}));
}

TEST_CASE("folders of parts go with what is in them, or stay when asked to or when they hold more") {
  MemoryFileSystem files;
  save_parts(files, "d/m", 1);
  CHECK(files.list("d") == Names{"m.data-00000-of-00002", "m.data-00001-of-00002", "m.index"});
  save(files, "e/p", "v", 1);
  merge_checkpoints(Names{"e/p"}, "d/one", {.delete_old_dirs = false, .file_system = &files});
  CHECK(files.list("e").empty());
  put_file(files, "e/mine", "x");
  save(files, "e/p", "v", 1);
  merge_checkpoints(Names{"e/p"}, "d/one", {.file_system = &files});
  CHECK(files.list("e") == Names{"mine"});
}

TEST_CASE("what cannot be merged is refused and stays as it was") {
  MemoryFileSystem files;
  save(files, "a", "v", 1);
  save(files, "b", "v", 2);
  const auto before = files.contents();
  const auto merge = [&](const Names& prefixes, const std::string& to, bool missing = false) {
    merge_checkpoints(prefixes, to, {.allow_missing_files = missing, .file_system = &files});
  };
  CHECK(message_of<InvalidArgument>([&] {
          merge({"a", "b"}, "m");
        }) == "'v' of 'b' is in a checkpoint merged before, too");
  CHECK(message_of<InvalidArgument>([&] {
          merge({"a", "b"}, "./b");
        }) == "'b' cannot be merged into itself; merge into another name");
  CHECK(message_of<InvalidArgument>([&] { merge({"c"}, "m", true); }) ==
        "there is nothing to merge: no checkpoint exists");
  CHECK_THROWS_AS(merge({"a", "c"}, "m"), NotFound);
  CHECK_THROWS_AS(merge({"a"}, "d/"), InvalidArgument);
  CHECK(files.contents() == before);
  merge({"c", "a"}, "m", true);
  CHECK(CheckpointReader("m", {.file_system = &files}).read("v").scalar<int>() == 1);
}

TEST_CASE("a merge that fails at any operation leaves the older checkpoint and the parts, or is done") {
  for (const Fault fault : kFailures)
    for (int nth = 1;; ++nth) {
      CAPTURE(nth);
      FaultyDisk disk;
      save_parts(disk.memory, "d/m", 1);
      const Names parts{"d/a", "d/b"};
      save(disk.memory, parts[0], "v", 2);
      save(disk.memory, parts[1], "w", 2);
      const auto before = disk.memory.contents();
      const auto merge =
          disk.with_fault(nth, fault, [&] { merge_checkpoints(parts, "d/m", {.file_system = &disk.files}); });
      const int value = load(disk.memory, "d/m");
      CHECK((value == 2 || !merge.done));
      if (value == 1) CHECK(disk.memory.contents() == before);
      if (merge.finished) break;
    }
}

TEST_CASE("a sharded save that is killed or loses power at any operation leaves old or new, then no trace") {
  for (const PowerCut cut : kPowerCuts)
    for (const bool power : {false, true})
      for (int nth = 1;; ++nth) {
        CAPTURE(nth);
        CAPTURE(power);
        FaultyDisk disk;
        save_parts(disk.memory, "d/m", 1);
        const auto save = disk.with_fault(nth, Fault::kStop, [&] { save_parts(disk.files, "d/m", 2); });
        if (power) disk.memory.reboot(cut);
        disk.disown_temporaries();
        const int value = load(disk.memory, "d/m");
        CHECK((value == 2 || (value == 1 && !save.done)));
        clean_up(disk.memory);
        CHECK(load(disk.memory, "d/m") == value);
        CHECK(disk.memory.list("d").size() == 3);
        save_parts(disk.memory, "d/m", 3);
        CHECK(load(disk.memory, "d/m") == 3);
        if (save.finished) break;
      }
}

TEST_CASE("a first sharded save that is killed or loses power at any operation is whole or gone") {
  for (const PowerCut cut : kPowerCuts)
    for (int nth = 1;; ++nth) {
      CAPTURE(nth);
      FaultyDisk disk;
      make_directories(disk.memory, "d");
      const auto save = disk.with_fault(nth, Fault::kStop, [&] { save_parts(disk.files, "d/m", 2); });
      disk.memory.reboot(cut);
      disk.disown_temporaries();
      clean_up(disk.memory);
      CHECK((disk.memory.list("d").empty() || load(disk.memory, "d/m") == 2));
      if (save.finished) break;
    }
}

TEST_CASE("only folders of parts of this path are removed") {
  MemoryFileSystem files;
  for (const char* folder :
       {"m_temp", "m-12_temp", "m_temp_0123456789abcdef0123456789abcdef", "mine_temp", "m_x_temp"})
    save(files, cat("d/", folder, "/part-00000-of-00001"), "v", 1);
  make_directories(files, "d/m-13_temp");
  put_file(files, "d/m-13_temp/part-00000-of-00001.index", "x");
  put_file(files, "d/m-13_temp/notes", "x");
  remove_parts_of_interrupted_saves(files, "d/m");
  CHECK(files.list("d") == Names{"m-13_temp", "m_x_temp", "mine_temp"});
}
