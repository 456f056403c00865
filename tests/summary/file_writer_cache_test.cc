// One writer a directory, whoever asks.
#include "summary/file_writer_cache.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>

#include "graph/error.h"
#include "ops/array_ops.h"
#include "tests/graph/scratch_directory.h"
#include "tests/summary/reading.h"

using namespace runnel;

TEST_CASE("a directory has one writer, however it is spelled") {
  const ScratchDirectory scratch;
  std::filesystem::create_directory_symlink(scratch.path(), scratch / "link");
  const auto writer = FileWriterCache::get(scratch / "logs");
  for (const char* other : {"logs/", "./logs", "none/../logs", "link/logs", "/logs//"})
    CHECK(FileWriterCache::get(scratch / other) == writer);
  CHECK(FileWriterCache::get(scratch / "others") != writer);
  FileWriterCache::clear();
}

TEST_CASE("clearing closes the writers, and the next call makes a new one") {
  const ScratchDirectory scratch;
  const auto writer = FileWriterCache::get(scratch / "logs");
  writer->scalar("loss", 1, 1);
  FileWriterCache::clear();
  CHECK_THROWS_AS(writer->scalar("loss", 1, 2), FailedPrecondition);
  CHECK(FileWriterCache::get(scratch / "logs") != writer);
  FileWriterCache::clear();
  CHECK(steps_in(real_file_system(), scratch / "logs") == std::vector<std::int64_t>{1});
}

TEST_CASE("a writer that somebody closed is open again") {
  const ScratchDirectory scratch;
  FileWriterCache::get(scratch / "logs")->close();
  CHECK_NOTHROW(FileWriterCache::get(scratch / "logs")->scalar("loss", 1, 1));
  FileWriterCache::clear();
}

TEST_CASE("a directory that cannot be made is an error each time, and clearing knows nothing of it") {
  const ScratchDirectory scratch;
  real_file_system().open_for_writing(scratch / "file", WriteMode::kTruncate);
  for (int i = 0; i < 2; ++i) CHECK_THROWS_AS(FileWriterCache::get(scratch / "file"), Error);
  CHECK_THROWS_AS(FileWriterCache::get(""), InvalidArgument);
  CHECK_NOTHROW(FileWriterCache::clear());
}

TEST_CASE("several sessions that bring their graph write it once") {
  const ScratchDirectory scratch;
  Graph g;
  placeholder<float>(g, Shape{}, "x");
  for (int i = 0; i < 3; ++i) FileWriterCache::get(scratch / "logs", g);
  FileWriterCache::clear();
  CHECK(events_in(real_file_system(), scratch / "logs").size() == 2);  // graph and meta graph
}

TEST_CASE("of writers that nobody holds only the last ones stay open, and those that are held all do") {
  const ScratchDirectory scratch;
  const auto files = [] { return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}); };
  const auto held = FileWriterCache::get(scratch / "held");
  held->scalar("loss", 1, 1);
  const auto before = files();
  for (int i = 0; i < 50; ++i)
    FileWriterCache::get(scratch / std::to_string(i))->scalar("loss", static_cast<double>(i), i);
  CHECK(files() - before <= 16);
  CHECK_NOTHROW(held->scalar("loss", 1, 2));
  FileWriterCache::clear();
  for (int i = 0; i < 50; ++i)
    CHECK(steps_in(real_file_system(), scratch / std::to_string(i)) == std::vector<std::int64_t>{i});
}
