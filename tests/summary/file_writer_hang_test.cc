// FileWriter while the disk hangs: nobody waits, memory is bounded, and what is lost is counted.
#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "graph/io/memory_file_system.h"
#include "graph/log.h"
#include "summary/file_writer.h"
#include "tests/graph/stuck_file_system.h"
#include "tests/summary/reading.h"

using namespace runnel;

namespace {

struct Bench {
  MemoryFileSystem memory;
  StuckFileSystem files{memory};
  ManualClock clock;
  std::vector<std::string> lines;
  ScopedLogSink sink{[this](LogLevel, const std::string& line) { lines.push_back(line); }};
  FileWriterOptions options() { return {.clock = &clock, .files = &files}; }
  std::vector<std::int64_t> steps() { return steps_in(memory, "logs"); }
};

const std::string kMegabyte(1 << 20, 'x');

// What `call` throws, while time passes.
template <class Call>
bool gives_up(ManualClock& clock, Call call) {
  std::atomic<bool> done = false, gave_up = false;
  std::jthread waiting([&] {
    try {
      call();
    } catch (const DeadlineExceeded&) {
      gave_up = true;
    }
    done = true;
  });
  until([&] {
    clock.advance(1);
    return done.load();
  });
  waiting.join();
  return gave_up;
}

}  // namespace

TEST_CASE("beyond 64 MiB that wait the newest events are dropped and counted, at once") {
  Bench b;
  FileWriter writer("logs", b.options());
  b.files.hang();
  for (int step = 0; step < 100; ++step) writer.scalar(kMegabyte, 1, step);
  CHECK(writer.lost() == 37);
  CHECK(b.lines.size() == 1);
  b.files.go_on();
  CHECK_THROWS_AS(writer.flush(), ResourceExhausted);
  CHECK_NOTHROW(writer.flush());  // said once
  writer.scalar("loss", 1, 100);
  writer.close();
  const auto steps = b.steps();
  REQUIRE(steps.size() == 64);
  for (int step = 0; step < 63; ++step) CHECK(steps[step] == step);
  CHECK(steps.back() == 100);
  REQUIRE(b.lines.size() == 2);
  CHECK(b.lines[1] == "events are taken again; 37 were lost so far");
}

TEST_CASE("flush gives up when the disk has taken nothing for a minute, and nothing is lost") {
  Bench b;
  FileWriter writer("logs", b.options());
  b.files.hang();
  writer.scalar("loss", 1, 1);
  CHECK(gives_up(b.clock, [&] { writer.flush(); }));
  b.files.go_on();
  writer.flush();
  CHECK(b.steps() == std::vector<std::int64_t>{1});
  CHECK(writer.lost() == 0);
}

TEST_CASE("close leaves a thread behind that the disk holds, and a new one can be begun") {
  Bench b;
  FileWriter writer("logs", b.options());
  writer.scalar("loss", 1, 1);
  writer.flush();
  b.files.hang();
  for (int step = 2; step < 5; ++step) writer.scalar("loss", 1, step);
  CHECK(gives_up(b.clock, [&] { writer.close(); }));
  CHECK(writer.lost() == 3);
  CHECK_THROWS_AS(writer.scalar("loss", 1, 5), FailedPrecondition);
  b.files.go_on();
  until([&] { return b.files.open_files() == 0; });  // the thread has come back and gone
  writer.reopen();
  writer.scalar("loss", 1, 6);
  writer.close();
  CHECK(b.steps().back() == 6);
  CHECK(writer.lost() == 3);
}

TEST_CASE("a writer can go out of scope while the disk hangs") {
  Bench b;
  auto writer = std::make_unique<FileWriter>("logs", b.options());
  b.files.hang();
  writer->scalar("loss", 1, 1);
  gives_up(b.clock, [&] { writer.reset(); });
  CHECK(writer == nullptr);
  b.files.go_on();
  until([&] { return b.files.open_files() == 0; });
}
