// The log sink: one line an event, replaceable, harmless.
#include "graph/log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "graph/io/file_system.h"
#include "graph/open_line.h"
#include "tests/graph/scratch_directory.h"

using namespace runnel;

namespace {

// What `write` writes to stderr.
template <class Write>
std::string on_stderr(Write write) {
  const ScratchDirectory scratch;
  std::fflush(stderr);
  const int before = ::dup(STDERR_FILENO);
  const int file = ::open((scratch / "stderr").c_str(), O_RDWR | O_CREAT, 0600);
  ::dup2(file, STDERR_FILENO);
  write();
  std::fflush(stderr);
  ::dup2(before, STDERR_FILENO);
  for (const int each : {before, file}) ::close(each);
  return read_file(real_file_system(), scratch / "stderr");
}

}  // namespace

TEST_CASE("the default sink erases a line that somebody left open on stderr, once") {
  const ScopedLogSink usual({});
  CHECK(on_stderr([] {
          set_open_line(true);
          log_info("one");
          log_warning("two");
          set_open_line(true);
          set_open_line(false);
          log_info("three");
        }) == "\r\x1b[Krunnel: info: one\nrunnel: warning: two\nrunnel: info: three\n");
}

TEST_CASE("a sink gets level and line, without line ends inside") {
  std::vector<std::string> seen;
  const ScopedLogSink sink(
      [&](LogLevel level, const std::string& line) { seen.push_back(name_of(level) + (": " + line)); });
  log_info("one");
  log_warning("two\nlines");
  log_error("three");
  CHECK(seen == std::vector<std::string>{"info: one", "warning: two lines", "error: three"});
}

TEST_CASE("the sink before comes back when a scoped one ends") {
  int outer = 0, inner = 0;
  const ScopedLogSink first([&](LogLevel, const std::string&) { ++outer; });
  {
    const ScopedLogSink second([&](LogLevel, const std::string&) { ++inner; });
    log_info("x");
  }
  log_info("y");
  CHECK(inner == 1);
  CHECK(outer == 1);
}

TEST_CASE("what a sink throws is dropped") {
  const ScopedLogSink sink([](LogLevel, const std::string&) { throw std::runtime_error("full"); });
  CHECK_NOTHROW(log_error("x"));
}

TEST_CASE("a sink may log itself") {
  int depth = 0;
  const ScopedLogSink sink([&](LogLevel, const std::string&) {
    if (++depth < 3) log_info("again");
  });
  log_info("x");
  CHECK(depth == 3);
}

TEST_CASE("lines of many threads arrive one at a time and none is lost") {
  int count = 0;  // no lock of its own
  {
    const ScopedLogSink sink([&](LogLevel, const std::string&) { ++count; });
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([] {
        for (int i = 0; i < 250; ++i) log_info("x");
      });
    for (std::jthread& thread : threads) thread.join();
  }
  CHECK(count == 1000);
}
