// FileWriter while the disk is ill: training goes on, nothing is silent, what was lost is counted exactly,
// and writing goes on when it can.
#include <doctest/doctest.h>

#include "graph/io/fault_file_system.h"
#include "graph/io/memory_file_system.h"
#include "graph/log.h"
#include "summary/file_writer.h"
#include "tests/summary/reading.h"

using namespace runnel;

namespace {

struct Lines {
  std::vector<std::string> all;
  ScopedLogSink sink{[this](LogLevel level, const std::string& line) {
    if (level != LogLevel::kInfo) all.push_back(line);
  }};
};

bool throws_when_closed(FileWriter& writer) {
  try {
    writer.close();
    return false;
  } catch (const Error&) {
    return true;
  }
}

}  // namespace

TEST_CASE("a full disk stops neither adding nor closing; close throws and every lost event is counted") {
  MemoryFileSystem files(64 * 1024);
  files.open_for_writing("ballast", WriteMode::kTruncate)->append(std::string(60 * 1024, 'x'));
  Lines lines;
  FileWriter writer("logs", {.flush_secs = 0, .files = &files});
  for (int step = 0; step < 1000; ++step) writer.scalar("a/rather/long/tag", step, step);
  CHECK_THROWS_AS(writer.close(), ResourceExhausted);
  CHECK(writer.lost() > 0);
  CHECK(steps_in(files, "logs").size() + writer.lost() == 1000);
  CHECK(lines.all.size() == 1);

  files.remove("ballast");
  writer.reopen();
  writer.scalar("a/rather/long/tag", 0, 1000);
  writer.close();
  CHECK(steps_in(files, "logs").back() == 1000);
}

TEST_CASE("what a full disk refused is written when it has room, in order and without loss") {
  MemoryFileSystem files(64 * 1024);
  files.open_for_writing("ballast", WriteMode::kTruncate)->append(std::string(60 * 1024, 'x'));
  Lines lines;
  FileWriter writer("logs", {.files = &files});
  for (int step = 0; step < 500; ++step) writer.scalar("loss", step, step);
  CHECK_THROWS_AS(writer.flush(), ResourceExhausted);
  CHECK_THROWS_AS(writer.flush(), ResourceExhausted);  // still so
  files.remove("ballast");
  writer.flush();
  writer.close();
  const auto steps = steps_in(files, "logs");
  REQUIRE(steps.size() == 500);
  for (int step = 0; step < 500; ++step) CHECK(steps[step] == step);
  CHECK(writer.lost() == 0);
  CHECK(lines.all.size() == 1);
}

TEST_CASE("a sync that fails is thrown once, and the file is not trusted any more") {
  MemoryFileSystem memory;
  FaultFileSystem files(memory);
  const Lines lines;
  FileWriter writer("logs", {.sync = true, .files = &files});
  files.fail_at(2, Fault::kInputError);  // the sync after the append
  writer.scalar("loss", 1, 1);
  CHECK_THROWS_AS(writer.flush(), Error);
  CHECK_NOTHROW(writer.flush());
  writer.scalar("loss", 1, 2);
  writer.close();
  CHECK(memory.list("logs").size() == 2);
  CHECK(steps_in(memory, "logs") == std::vector<std::int64_t>{1, 2});
  CHECK(writer.lost() == 0);
}

TEST_CASE("a disk that fails is tried again by and by, without being asked") {
  MemoryFileSystem files(1000);
  files.open_for_writing("ballast", WriteMode::kTruncate)->append(std::string(900, 'x'));
  ManualClock clock;
  const Lines lines;
  FileWriter writer("logs", {.clock = &clock, .files = &files});
  writer.scalar(std::string(60, 'x'), 1, 1);
  CHECK_THROWS_AS(writer.flush(), ResourceExhausted);
  files.remove("ballast");
  until([&] { return clock.waiting() == 1; });
  clock.advance(6);
  until([&] { return steps_in(files, "logs").size() == 1; });
}

TEST_CASE("a disk too full for any event is not littered with files") {
  MemoryFileSystem files(100);
  const Lines lines;
  FileWriter writer("logs", {.flush_secs = 0, .files = &files});
  for (int i = 0; i < 5; ++i) {
    writer.scalar(std::string(60, 'x'), 1, i);
    CHECK_THROWS_WITH_AS(writer.flush(), doctest::Contains("they wait"), ResourceExhausted);
  }
  CHECK_THROWS_WITH_AS(writer.close(), doctest::Contains("5 events are lost"), ResourceExhausted);
  CHECK(lines.all.size() == 1);
  CHECK(files.list("logs").empty());
  CHECK(writer.lost() == 5);
}

TEST_CASE(
    "whichever operation fails and however, adding never throws, losses are exact and the last event is "
    "there") {
  for (const Fault fault : {Fault::kNoSpace, Fault::kInputError, Fault::kShortWrite})
    for (int nth = 1; nth <= 24; ++nth) {
      CAPTURE(static_cast<int>(fault));
      CAPTURE(nth);
      MemoryFileSystem memory;
      FaultFileSystem files(memory);
      const Lines lines;
      files.fail_at(nth, fault);
      FileWriter writer("logs", {.flush_secs = 0, .must_open = false, .files = &files});
      int failures = 0;
      for (int step = 0; step < 6; ++step) {
        writer.scalar("loss", step, step);
        try {
          writer.flush();
        } catch (const Error&) {
          ++failures;
        }
      }
      writer.scalar("loss", 6, 6);
      failures += throws_when_closed(writer);
      CHECK(failures <= 1);
      CHECK(lines.all.size() <= 1);
      const auto steps = steps_in(memory, "logs");
      CHECK(steps.size() + writer.lost() == 7);
      if (files.operations() > nth + 3) CHECK(steps.back() == 6);
    }
}

TEST_CASE("a writer told not to fail starts without a place to write, says so, and begins when it can") {
  MemoryFileSystem files;
  files.open_for_writing("logs", WriteMode::kTruncate)->append("a file where the directory should be");
  Lines lines;
  CHECK_THROWS_AS(FileWriter("logs", {.files = &files}), Error);
  FileWriter writer("logs", {.purge_step = 5, .must_open = false, .files = &files});
  writer.scalar("loss", 1, 1);
  CHECK_THROWS_AS(writer.flush(), Error);
  files.remove("logs");
  writer.scalar("loss", 1, 6);
  writer.flush();
  CHECK(steps_in(files, "logs") == std::vector<std::int64_t>{5, 5, 1, 6});
  CHECK(writer.lost() == 0);
}

TEST_CASE("when somebody removes the file, what was not written yet goes into a new one, with one warning") {
  MemoryFileSystem files;
  ManualClock clock;
  Lines lines;
  FileWriter writer("logs", {.clock = &clock, .files = &files});
  writer.scalar("loss", 1, 1);
  writer.flush();
  files.remove("logs/" + files.list("logs").at(0));
  for (int step = 2; step < 5; ++step) writer.scalar("loss", 1, step);
  writer.flush();
  writer.scalar("loss", 1, 5);
  writer.close();
  CHECK(steps_in(files, "logs") == std::vector<std::int64_t>{2, 3, 4, 5});
  CHECK(files.list("logs").size() == 1);
  REQUIRE(lines.all.size() == 1);
  CHECK(lines.all[0].find("has vanished") != std::string::npos);
  CHECK(writer.lost() == 0);
}
