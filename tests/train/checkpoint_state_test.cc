// The text file `checkpoint`: TensorFlow's bytes, moved directories, odd names, and reasons instead of
// "none".
#include "train/checkpoint/checkpoint_state.h"

#include <doctest/doctest.h>
#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>
#include <unistd.h>

#include <filesystem>

#include "graph/io/forwarding_file_system.h"
#include "graph/io/memory_file_system.h"
#include "tests/graph/scratch_directory.h"
#include "tests/graph/thrown.h"
#include "tests/train/checkpoint_golden.h"
#include "train/checkpoint/checkpoint_reader.h"
#include "train/checkpoint/checkpoint_writer.h"

using namespace runnel;

namespace {

// As golden/state/state.json tells it.
CheckpointState state_of(const google::protobuf::Struct& json) {
  CheckpointState state;
  const auto number = [](const auto& value) { return std::strtod(value.string_value().c_str(), nullptr); };
  const auto& fields = json.fields();
  state.model_checkpoint_path = fields.at("model_checkpoint_path").string_value();
  for (const auto& path : fields.at("all_model_checkpoint_paths").list_value().values())
    state.all_model_checkpoint_paths.push_back(path.string_value());
  for (const auto& time : fields.at("all_model_checkpoint_timestamps").list_value().values())
    state.all_model_checkpoint_timestamps.push_back(number(time));
  state.last_preserved_timestamp = number(fields.at("last_preserved_timestamp"));
  return state;
}

void save(FileSystem& files, const std::string& prefix, int value) {
  CheckpointWriter writer(prefix, {.file_system = &files});
  writer.add("v", Tensor::scalar(value));
  writer.finish();
  update_checkpoint_state(parent_of(prefix), prefix, {.file_system = &files});
}

int load(const std::string& prefix) { return CheckpointReader(prefix).read("v").scalar<int>(); }

// Goes to a directory for as long as it lives.
class WorkingDirectory {
 public:
  explicit WorkingDirectory(const std::string& path) : before_(std::filesystem::current_path()) {
    std::filesystem::current_path(path);
  }
  ~WorkingDirectory() { std::filesystem::current_path(before_); }

 private:
  std::filesystem::path before_;
};

std::string why_not(FileSystem& files, const std::string& directory) {
  return message_of<NotFound>([&] { latest_checkpoint(directory, {.file_system = &files}); });
}

}  // namespace

TEST_CASE("TensorFlow's state files are read, and written again byte for byte") {
  google::protobuf::Struct states;
  REQUIRE(google::protobuf::util::JsonStringToMessage(golden_bytes("state/state.json"), &states).ok());
  CHECK(states.fields().size() > 20);
  for (const auto& [name, json] : states.fields()) {
    const auto& this_name = name;  // clang 14 captures no structured binding
    CAPTURE(this_name);
    const std::string text = golden_bytes("state/" + name);
    const CheckpointState state = state_of(json.struct_value());
    CHECK(parse_checkpoint_state(text) == state);
    if (name != "checkpoint_octal_utf8") CHECK(text_of(state) == text);  // an older protobuf's form
  }
}

TEST_CASE("a state file edited by hand is read") {
  const CheckpointState state = parse_checkpoint_state(
      "# mine\nall_model_checkpoint_paths : ['a', \"b\" ]\n model_checkpoint_path:\t'mo' \"del\\x2d\\065\" # "
      "end\n"
      "last_preserved_timestamp: 1e3");
  CHECK(state.model_checkpoint_path == "model-5");
  CHECK(state.all_model_checkpoint_paths == std::vector<std::string>{"a", "b"});
  CHECK(state.last_preserved_timestamp == 1000);
  CHECK(parse_checkpoint_state("model_checkpoint_path: \"raw\xff\"").model_checkpoint_path == "raw\xff");
}

TEST_CASE("text that is no state is refused with its line") {
  for (const char* text :
       {"", "hello", "model_checkpoint_path: 5", "model_checkpoint_path: \"a", "unknown: 1",
        "model_checkpoint_path: \"\"", "\x01", "model_checkpoint_path { }"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(parse_checkpoint_state(text), DataLoss);
  }
  CHECK(message_of<DataLoss>([] {
          parse_checkpoint_state("model_checkpoint_path: \"m\"\n  oops: 1");
        }).starts_with("line 2, column "));
}

TEST_CASE("a state file that is far too large is refused unread") {
  struct Huge final : ForwardingFileSystem {
    using ForwardingFileSystem::ForwardingFileSystem;
    std::uint64_t file_size(const std::string&) override { return std::uint64_t{1} << 40; }
    std::unique_ptr<ReadableFile> open_for_reading(const std::string&) override { throw Internal("read"); }
  };
  MemoryFileSystem memory;
  Huge files(memory);
  put_file(memory, "checkpoint", "");
  CHECK(message_of<DataLoss>([&] { get_checkpoint_state("", {.file_system = &files}); }) ==
        "'checkpoint' is no checkpoint state file: it has 1099511627776 bytes");
}

TEST_CASE("names of any bytes come back from the state file") {
  for (int c = 1; c < 256; ++c) {
    CheckpointState state{.model_checkpoint_path = std::string(1, static_cast<char>(c)) + "5"};
    CHECK(parse_checkpoint_state(text_of(state)) == state);
  }
}

TEST_CASE("a directory that was moved or copied is read where it is now") {
  ScratchDirectory scratch;
  save(real_file_system(), scratch / "a/model.ckpt-10", 10);
  std::filesystem::copy(scratch / "a", scratch / "b");
  save(real_file_system(), scratch / "a/model.ckpt-10", 11);
  CHECK(latest_checkpoint(scratch / "b") == scratch / "b/model.ckpt-10");
  CHECK(load(latest_checkpoint(scratch / "b")) == 10);
  // The same for a file with absolute paths, as TensorFlow writes it.
  put_file(real_file_system(), scratch / "b/checkpoint",
           text_of({.model_checkpoint_path = scratch / "a/model.ckpt-10"}));
  CHECK(load(latest_checkpoint(scratch / "b")) == 10);
  std::filesystem::remove_all(scratch / "a");
  CHECK(load(latest_checkpoint(scratch / "b/")) == 10);
}

TEST_CASE("relative directories are never joined twice, from this working directory or another") {
  ScratchDirectory scratch;
  make_directories(real_file_system(), scratch / "x");
  const WorkingDirectory here(scratch / "x");
  for (const char* dir : {"test", "./test", "test/", "../x/test", "."}) {
    CAPTURE(dir);
    save(real_file_system(), join_path(dir, "model"), 3);
    CHECK(load(latest_checkpoint(dir)) == 3);
    CHECK(read_file(real_file_system(), join_path(dir, "checkpoint"))
              .find("model_checkpoint_path: \"model\"\n") == 0);
    const std::string from_elsewhere = scratch / std::string("x/") + dir;
    const WorkingDirectory elsewhere("/");
    CHECK(load(latest_checkpoint(from_elsewhere)) == 3);
  }
  save(real_file_system(), "bare", 4);
  CHECK(load(latest_checkpoint(".")) == 4);
  CHECK(load(latest_checkpoint("")) == 4);
  put_file(real_file_system(), "test/checkpoint", text_of({.model_checkpoint_path = "test/model"}));
  CHECK(latest_checkpoint("test") == "test/model");
}

TEST_CASE("paths inside are written relative, others as they were given or with dots") {
  MemoryFileSystem files;
  const auto written = [&](const std::string& directory, const std::string& path) {
    make_directories(files, directory);
    update_checkpoint_state(directory, path, {.file_system = &files});
    return parse_checkpoint_state(read_file(files, directory + "/checkpoint")).model_checkpoint_path;
  };
  CHECK(written("sub", "sub/m.ckpt") == "m.ckpt");
  CHECK(written("sub", "sub/deeper/m") == "deeper/m");
  CHECK(written("sub", "other/m-2") == "../other/m-2");
  CHECK(written("/data/run", "/data/run/m-2") == "m-2");
  CHECK(written("/data/run", "/data/other/m-2") == "/data/other/m-2");
  CHECK(written("rel", "/data/m-2") == "/data/m-2");
}

TEST_CASE(
    "a checkpoint outside of the directory is found there, but one inside of the same name is preferred") {
  MemoryFileSystem files;
  save(files, "other/m-2", 1);
  make_directories(files, "run");
  update_checkpoint_state("run", "other/m-2", {.file_system = &files});
  CHECK(latest_checkpoint("run", {.file_system = &files}) == "run/../other/m-2");
  CheckpointWriter("run/m-2", {.file_system = &files}).finish();
  CHECK(latest_checkpoint("run", {.file_system = &files}) == "run/m-2");
}

TEST_CASE("four directories without a usable state give four reasons") {
  MemoryFileSystem files;
  for (const char* dir : {"empty", "txt", "garbage", "stale"}) make_directories(files, dir);
  put_file(files, "txt/checkpoint.txt", "model_checkpoint_path: \"m\"");
  put_file(files, "garbage/checkpoint", "hello world");
  save(files, "stale/model.ckpt-9", 9);
  files.remove("stale/model.ckpt-9.index");
  put_file(files, "stale/model.ckpt-5.index", "x");
  CHECK(why_not(files, "empty") == "no file 'checkpoint' in 'empty' and no checkpoint either");
  CHECK(
      why_not(files, "txt") ==
      "no file 'checkpoint' in 'txt'; there is 'checkpoint.txt': rename it to 'checkpoint' if it is the one");
  CHECK(why_not(files, "garbage")
            .starts_with("'garbage/checkpoint' is no checkpoint state file: line 1, column "));
  CHECK(why_not(files, "stale") ==
        "'stale/checkpoint' names 'stale/model.ckpt-9', which does not exist; beside it "
        "there is 'model.ckpt-5'");
}

TEST_CASE("a missing directory, a file in place of one and a lost state file are told apart") {
  MemoryFileSystem files;
  save(files, "run/m-1", 1);
  CHECK(why_not(files, "none") == "no directory 'none'");
  CHECK(why_not(files, "run/checkpoint") == "'run/checkpoint' is a file: pass its directory 'run'");
  files.remove("run/checkpoint");
  CHECK(why_not(files, "run") ==
        "no file 'checkpoint' in 'run'; pass one of its checkpoints to restore: 'm-1'");
  CHECK_FALSE(get_checkpoint_state("run", {.file_system = &files}));
}

TEST_CASE("directories with pattern characters are literal and their neighbours stay untouched") {
  ScratchDirectory scratch;
  for (const char* name :
       {"a[1]", "a1", "a*b", "a?b", "a{1,2}", "a b", "é漢", "a'b\"c", "a\nb", "-x", "a\\b"}) {
    CAPTURE(name);
    save(real_file_system(), scratch / (std::string(name) + "/" + name), 5);
    CHECK(load(latest_checkpoint(scratch / name)) == 5);
    CHECK(real_file_system().list(scratch / name).size() == 3);
  }
}

TEST_CASE("the list keeps its order, takes the newest at its end and counts its timestamps") {
  MemoryFileSystem files;
  update_checkpoint_state("", "m-3", {.all_model_checkpoint_paths = {"m-1", "m-2"}, .file_system = &files});
  CHECK(read_file(files, "checkpoint") ==
        "model_checkpoint_path: \"m-3\"\nall_model_checkpoint_paths: \"m-1\"\n"
        "all_model_checkpoint_paths: \"m-2\"\nall_model_checkpoint_paths: \"m-3\"\n");
  CHECK_THROWS_AS(
      update_checkpoint_state("", "m-3", {.all_model_checkpoint_timestamps = {1, 2}, .file_system = &files}),
      InvalidArgument);
  CHECK_THROWS_AS(update_checkpoint_state("d", "d/./checkpoint", {.file_system = &files}), InvalidArgument);
  CHECK_THROWS_AS(update_checkpoint_state("d", "d/m", {.latest_filename = "x/y", .file_system = &files}),
                  InvalidArgument);
}
