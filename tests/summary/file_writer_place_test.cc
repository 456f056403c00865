// Where a writer's file lies while others change directories, paths and files around it.
#include <doctest/doctest.h>

#include <filesystem>

#include "graph/error.h"
#include "graph/io/memory_file_system.h"
#include "summary/file_writer.h"
#include "tests/graph/scratch_directory.h"
#include "tests/summary/reading.h"

using namespace runnel;

namespace {

using Steps = std::vector<std::int64_t>;

// The only file of the directory.
std::string file_in(const std::string& directory) {
  return join_path(directory, real_file_system().list(directory).at(0));
}

// Steps of two points, the second added after `happens` was done to the flushed file of the first.
template <class Happens>
Steps steps_around(const std::string& directory, Happens happens) {
  FileWriter log(directory);
  log.scalar("a", 0, 0);
  log.flush();
  happens(file_in(directory));
  log.scalar("a", 1, 1);
  log.close();
  CHECK(log.lost() == 0);
  return steps_in(real_file_system(), directory);
}

}  // namespace

TEST_CASE("a relative directory stays where it was when the process goes elsewhere") {
  const ScratchDirectory scratch;
  const std::filesystem::path home = std::filesystem::current_path();
  std::filesystem::current_path(scratch.path());
  FileWriter log("logs");
  CHECK(log.get_logdir() == "logs");
  log.scalar("a", 0, 0);
  log.flush();
  std::filesystem::current_path(home);
  log.scalar("a", 1, 1);
  log.close();
  log.reopen();
  log.scalar("a", 2, 2);
  log.close();
  CHECK(steps_in(real_file_system(), scratch / "logs") == Steps{0, 1, 2});
  CHECK(real_file_system().list(scratch / "logs").size() == 2);
}

TEST_CASE("a file that is replaced under its name, or cut short, loses nothing that comes after") {
  const ScratchDirectory scratch;
  const auto replace = [](const std::string& path) {
    std::filesystem::copy(path, path + ".copy");
    std::filesystem::rename(path + ".copy", path);
  };
  CHECK(steps_around(scratch / "replaced", replace) == Steps{0, 1});
  const auto cut = [](const std::string& path) { std::filesystem::resize_file(path, 60); };
  CHECK(steps_around(scratch / "cut", cut) == Steps{1});
}

TEST_CASE("what is no text, no status and no file that TensorBoard reads is refused") {
  MemoryFileSystem files;
  FileWriter log("d", {.files = &files});
  CHECK_THROWS_WITH_AS(log.add_session_log(SessionStatus::kCheckpoint, 1, "/M\xfcller/m-1"),
                       doctest::Contains("is not UTF-8"), InvalidArgument);
  CHECK_THROWS_AS(log.add_session_log(SessionStatus::kStop, 1, "", "\xff"), InvalidArgument);
  CHECK_THROWS_AS(log.add_session_log(static_cast<SessionStatus>(99), 1), InvalidArgument);
  CHECK_THROWS_AS(FileWriter("d", {.filename_suffix = ".profile-empty", .files = &files}), InvalidArgument);
  CHECK_THROWS_AS(FileWriter("d", {.clock = nullptr, .files = &files}), InvalidArgument);
  log.scalar("a", 1, 7);
  log.close();
  CHECK(steps_in(files, "d") == Steps{7});
}
