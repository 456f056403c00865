// A process that forks while a writer is open: parent and child write what is theirs, each once, and nobody
// waits for the other.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "graph/error.h"
#include "summary/file_writer.h"
#include "summary/file_writer_cache.h"
#include "tests/graph/scratch_directory.h"
#include "tests/summary/reading.h"

using namespace runnel;

namespace {

// ThreadSanitizer lets no child of a process with threads start one. Its own macro is undefined in such
// builds (meson.build), libstdc++'s is not.
#if defined(_GLIBCXX_TSAN)
constexpr bool kChildrenHaveThreads = false;
#else
constexpr bool kChildrenHaveThreads = true;
#endif

// Whether `body` returns true in a child process.
template <class Body>
bool holds_in_child(Body body) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);  // a child that hangs fails
    ::_exit(body() ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool refuses(FileWriter& writer) {
  try {
    writer.scalar("loss", 1, 100);
  } catch (const FailedPrecondition&) {
    return true;
  }
  return false;
}

}  // namespace

TEST_CASE("what waited when a process forked is written once, by the parent") {
  const ScratchDirectory scratch;
  auto writer = std::make_unique<FileWriter>(scratch / "logs");
  for (int step = 0; step < 100; ++step) writer->scalar("loss", 1, step);
  CHECK(holds_in_child([&] {
    const bool closed = refuses(*writer);
    writer->flush();
    writer->close();
    writer.reset();
    return closed;
  }));
  writer->scalar("loss", 1, 100);
  writer->close();
  CHECK(steps_in(real_file_system(), scratch / "logs").size() == 101);
}

TEST_CASE("a child that opens the writer again has a file of its own") {
  if (!kChildrenHaveThreads) return;
  const ScratchDirectory scratch;
  FileWriter writer(scratch / "logs");
  writer.scalar("loss", 1, 1);
  CHECK(holds_in_child([&] {
    writer.reopen();
    writer.scalar("loss", 1, 2);
    writer.close();
    return refuses(writer);
  }));
  writer.scalar("loss", 1, 3);
  writer.close();
  CHECK(steps_in(real_file_system(), scratch / "logs") == std::vector<std::int64_t>{1, 3, 2});
}

TEST_CASE("a child's cache is its own") {
  if (!kChildrenHaveThreads) return;
  const ScratchDirectory scratch;
  const auto writer = FileWriterCache::get(scratch / "logs");
  CHECK(holds_in_child([&] {
    const auto mine = FileWriterCache::get(scratch / "logs");
    mine->scalar("loss", 1, 2);
    FileWriterCache::clear();
    return mine != writer;
  }));
  writer->scalar("loss", 1, 1);
  FileWriterCache::clear();
  CHECK(steps_in(real_file_system(), scratch / "logs") == std::vector<std::int64_t>{1, 2});
}

TEST_CASE("children forked in the middle of adding from many threads neither hang nor write") {
  const ScratchDirectory scratch;
  FileWriter writer(scratch / "logs");
  std::atomic<std::int64_t> added = 0;
  std::vector<std::jthread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&](const std::stop_token& stop) {
      for (; !stop.stop_requested(); ++added) {
        writer.scalar("loss", 1, 1);
        if (added % 100 == 0) writer.flush();
      }
    });
  for (int i = 0; i < 20; ++i) CHECK(holds_in_child([&] { return refuses(writer); }));
  threads.clear();  // stopped and joined
  writer.close();
  CHECK(steps_in(real_file_system(), scratch / "logs").size() + writer.lost() ==
        static_cast<std::size_t>(added));
}
