// Checkpoints on disk by prefix or directory, and which of them a start after a crash takes.
#include "train/checkpoint/stored_checkpoints.h"

#include <doctest/doctest.h>

#include <functional>

#include "graph/io/memory_file_system.h"
#include "graph/log.h"
#include "tests/graph/thrown.h"
#include "tests/train/checkpoint_golden.h"
#include "train/checkpoint/checkpoint_files.h"
#include "train/checkpoint/checkpoint_state.h"
#include "train/checkpoint/checkpoint_writer.h"

using namespace runnel;

namespace {

using Names = std::vector<std::string>;

void save(FileSystem& files, const std::string& prefix, int value) {
  CheckpointWriter writer(prefix, {.file_system = &files});
  writer.add("v", Tensor::scalar(value));
  writer.add("w", Tensor::vector<float>({1, 2}));
  writer.finish();
  put_file(files, meta_path(prefix), "graph");
}

// d/m-1, d/m-2 and d/m-3, all named by the state file.
void save_three(FileSystem& files) {
  Names all;
  for (int step = 1; step <= 3; ++step) {
    all.push_back(cat("d/m-", step));
    save(files, all.back(), step);
    update_checkpoint_state("d", all.back(), {.all_model_checkpoint_paths = all, .file_system = &files});
  }
}

void damage(MemoryFileSystem& files, const std::string& path) {
  std::string bytes = read_file(files, path);
  bytes[bytes.size() / 4] ^= 1;
  put_file(files, path, bytes);
}

// What `latest_checkpoint` with verify answers, and the lines that it logged.
struct Verified {
  explicit Verified(FileSystem& files, const std::string& directory = "d") {
    const ScopedLogSink sink([this](LogLevel, const std::string& line) { lines.push_back(line); });
    prefix = latest_checkpoint(directory, {.verify = true, .file_system = &files});
  }
  std::string prefix;
  Names lines;
};

}  // namespace

TEST_CASE("a checkpoint exists under its literal prefix alone, and its time is that of its index") {
  MemoryFileSystem files;
  save(files, "d/m[1]", 1);
  put_file(files, "v1", "an old one");
  const CheckpointReaderOptions here{.file_system = &files};
  CHECK(checkpoint_exists("d/m[1]", here));
  CHECK(checkpoint_exists("v1", here));
  for (const char* other : {"d/m1", "d/m*", "d", "d/m[1].data", "none"})
    CHECK_FALSE(checkpoint_exists(other, here));
  const Names prefixes{"none", "d/m[1]", "v1"};
  CHECK(get_checkpoint_mtimes(prefixes, here) ==
        std::vector<double>{files.modified("d/m[1].index"), files.modified("v1")});
}

TEST_CASE("variables are listed and loaded by prefix and by directory") {
  MemoryFileSystem files;
  save_three(files);
  const CheckpointReaderOptions here{.file_system = &files};
  const std::vector<VariableInfo> all{{"v", DType::kInt32, {}}, {"w", DType::kFloat, Shape{2}}};
  CHECK(list_variables("d", here) == all);
  CHECK(list_variables("d/m-1", here) == all);
  CHECK(load_checkpoint("d", here).prefix() == "d/m-3");
  CHECK(load_variable("d", "v", here) == Tensor::scalar(3));
  CHECK(load_variable("d/m-2", "v:0", here) == Tensor::scalar(2));
  CHECK(message_of<NotFound>([&] { load_variable("d", "u", here); }) ==
        "no 'u' in checkpoint 'd/m-3', which holds 'v' and 'w'");
  make_directories(files, "empty");
  CHECK(message_of<NotFound>([&] { list_variables("empty", here); }) ==
        "no file 'checkpoint' in 'empty' and no checkpoint either");
  CHECK(message_of<InvalidArgument>([&] { list_variables("d/m-1.index", here); }) ==
        "'d/m-1.index' is one file of a checkpoint: pass 'd/m-1'");
}

TEST_CASE("a checkpoint is removed with its graph and its data, and its neighbours stay") {
  MemoryFileSystem files;
  for (const char* prefix : {"d/m-1", "d/m-11", "d/m-?"}) save(files, prefix, 1);
  remove_checkpoint("d/m-?", {.file_system = &files});
  CHECK(files.list("d").size() == 6);
  CHECK_THROWS_AS(remove_checkpoint("d/m-1.index", {.file_system = &files}), InvalidArgument);
  put_file(files, "d/m-1.graph", "another");
  remove_checkpoint("d/m-1", {.meta_graph_suffix = "graph", .file_system = &files});
  CHECK(files.list("d") == Names{"m-1.meta", "m-11.data-00000-of-00001", "m-11.index", "m-11.meta"});
  remove_checkpoint("d/m-1", {.file_system = &files});
  CHECK(files.list("d").size() == 3);
  remove_checkpoint("d/m-1", {.file_system = &files});
  remove_checkpoint("none/m-1", {.file_system = &files});
}

TEST_CASE("the latest checkpoint is taken when it is whole, without a word") {
  MemoryFileSystem files;
  save_three(files);
  const Verified latest(files);
  CHECK(latest.prefix == "d/m-3");
  CHECK(latest.lines.empty());
}

TEST_CASE("damaged and half-written checkpoints are skipped with a line each") {
  const std::string data = data_path("d/m-3", 0, 1);
  const std::function<void(MemoryFileSystem&)> harms[] = {
      [&](auto& files) { damage(files, data); },
      [&](auto& files) { damage(files, "d/m-3.index"); },
      [&](auto& files) { put_file(files, data, read_file(files, data).substr(0, 5)); },
      [&](auto& files) { put_file(files, "d/m-3.index", ""); },
      [&](auto& files) { put_file(files, "d/m-3.index", "version https://git-lfs.github.com/spec/v1\n"); },
      [&](auto& files) { files.remove(data); },
      [&](auto& files) { files.remove("d/m-3.index"); }};
  for (std::size_t i = 0; i < std::size(harms); ++i) {
    CAPTURE(i);
    MemoryFileSystem files;
    save_three(files);
    harms[i](files);
    const Verified latest(files);
    CHECK(latest.prefix == "d/m-2");
    REQUIRE(latest.lines.size() == 1);
    CHECK(latest.lines[0].starts_with("checkpoint 'd/m-3' is skipped: "));
    damage(files, data_path("d/m-2", 0, 1));
    CHECK(Verified(files).prefix == "d/m-1");
  }
}

TEST_CASE("a run of which nothing is whole is DataLoss with all reasons, and one that is gone is NotFound") {
  MemoryFileSystem files;
  save_three(files);
  for (int step = 1; step <= 3; ++step) damage(files, data_path(cat("d/m-", step), 0, 1));
  const std::string why = message_of<DataLoss>([&] { Verified{files}; });
  CHECK(why.starts_with("no checkpoint is whole: 'd/m-3': "));
  for (const char* prefix : {"; 'd/m-2': ", "; 'd/m-1': "}) CHECK(why.find(prefix) != std::string::npos);
  for (int step = 1; step <= 3; ++step) remove_checkpoint(cat("d/m-", step), {.file_system = &files});
  CHECK(message_of<NotFound>([&] { Verified{files}; }) ==
        "'d/checkpoint' names 'd/m-3', which does not exist; there is no other checkpoint beside it");
  CHECK(message_of<NotFound>([&] { Verified(files, "none"); }) == "no directory 'none'");
}

TEST_CASE("where the state file is damaged the newest whole checkpoint of the directory is taken") {
  MemoryFileSystem files;
  save_three(files);
  put_file(files, "d/checkpoint", "\x01\x02");
  damage(files, "d/m-3.index");
  const Verified latest(files);
  CHECK(latest.prefix == "d/m-2");
  CHECK(latest.lines.size() == 2);
  CHECK(latest.lines[0].starts_with("'d/checkpoint' is no checkpoint state file: "));
  CHECK_THROWS_AS(latest_checkpoint("d", {.file_system = &files}), NotFound);
  make_directories(files, "e");
  put_file(files, "e/checkpoint", "\x01\x02");
  CHECK_THROWS_AS(Verified(files, "e"), NotFound);
}

TEST_CASE("where the state file is gone, or all that it names, so is it") {
  const std::function<void(MemoryFileSystem&)> harms[] = {
      [](auto& files) { files.remove("d/checkpoint"); },
      [](auto& files) { update_checkpoint_state("d", "d/none", {.file_system = &files}); }};
  for (std::size_t i = 0; i < std::size(harms); ++i) {
    CAPTURE(i);
    MemoryFileSystem files;
    save_three(files);
    damage(files, "d/m-3.index");
    harms[i](files);
    const Verified latest(files);
    CHECK(latest.prefix == "d/m-2");
    REQUIRE(latest.lines.size() == 2);
    CHECK(latest.lines[0].ends_with("; trying the checkpoints in 'd', the newest first"));
    CHECK_THROWS_AS(latest_checkpoint("d", {.file_system = &files}), NotFound);
  }
}

TEST_CASE(
    "without a state file the newest is the one of the highest step, in whatever order files were copied") {
  MemoryFileSystem files;
  for (const int step : {9, 100, 10}) save(files, cat("d/m-", step), step);
  CHECK(prefixes_in(files, "d") == Names{"m-9", "m-10", "m-100"});
  CHECK(Verified(files).prefix == "d/m-100");
  for (const char* later : {"d/m", "d/m-x", "d/m--2", "d/other-1", "d/m-99999999999999999999"})
    save(files, later, 0);
  CHECK(prefixes_in(files, "d") ==
        Names{"m-9", "m-10", "m-100", "m", "m-x", "m--2", "other-1", "m-99999999999999999999"});
}

TEST_CASE("TensorFlow's checkpoints are whole, whatever they hold") {
  int checkpoints = 0;
  for (const char* name : {"dtypes", "many", "merged", "names", "partitioned", "sharded", "linear_ref"}) {
    CAPTURE(name);
    for (const std::string& prefix : prefixes_in(real_file_system(), golden(name))) {
      CAPTURE(prefix);
      CHECK_NOTHROW(load_checkpoint(join_path(golden(name), prefix)).verify());
      ++checkpoints;
    }
  }
  CHECK(checkpoints >= 7);
}
