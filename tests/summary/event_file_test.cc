// Event files: names that sort and never meet, and nothing half-made.
#include "summary/events/event_file.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <regex>
#include <set>
#include <vector>

#include "graph/io/fault_file_system.h"
#include "graph/io/memory_file_system.h"
#include "graph/io/record_format.h"
#include "summary/events/event.h"

using namespace runnel;

TEST_CASE("a file name has seconds, nanoseconds, host, process and count in fixed widths, then the suffix") {
  const std::string name = event_file_name(1'700'000'000'000'000'012, 34, ".train");
  const std::regex form(
      R"(events\.out\.tfevents\.1700000000\.000000012\.[-_.A-Za-z0-9]+\.[0-9]{7}\.000034\.train)");
  CHECK(std::regex_match(name, form));
}

TEST_CASE("names sort by start, also where the number of digits grows") {
  CHECK(event_file_name(999'999'999'000'000'000, 9, "") < event_file_name(1'000'000'000'000'000'000, 10, ""));
  CHECK(event_file_name(1'000'000'000'999'999'999, 9, "") <
        event_file_name(1'000'000'001'000'000'000, 10, ""));
  CHECK(event_file_name(0, 9, "") < event_file_name(0, 10, ""));
}

TEST_CASE("fifty files of one moment are fifty files") {
  MemoryFileSystem files;
  ManualClock clock;  // stands still
  files.make_directory("logs");
  std::set<std::string> names;
  for (int i = 0; i < 50; ++i) names.insert(EventFile(files, clock, "logs", "").path());
  CHECK(names.size() == 50);
  CHECK(files.list("logs").size() == 50);
}

TEST_CASE("a file is named behind all that are there, whatever the clock says") {
  MemoryFileSystem files;
  files.make_directory("logs");
  std::vector<std::string> made;
  for (const std::int64_t now :
       std::initializer_list<std::int64_t>{1'700'000'000'000'000'005, 1'700'000'000'000'000'004, 5})
    made.push_back(EventFile(files, *std::make_unique<ManualClock>(now), "logs", "").path());
  files.open_for_writing("logs/events.out.tfevents.1700000009.host", WriteMode::kTruncate);  // TensorFlow's
  made.push_back("logs/events.out.tfevents.1700000009.host");
  ManualClock back(1'700'000'009'000'000'000);
  made.push_back(EventFile(files, back, "logs", ".x").path());
  CHECK(std::is_sorted(made.begin(), made.end()));
  CHECK(files.list("logs").size() == 5);
}

TEST_CASE("the last name of a directory decides where the next one starts") {
  using Names = std::vector<std::string>;
  CHECK(start_behind({}) == 0);
  CHECK(start_behind({"model.ckpt-1.meta", "events.out.tfevents.short", "events.out.tfevents."}) == 0);
  CHECK(start_behind(Names{"events.out.tfevents.1700000000.000000012.h.1.1"}) == 1'700'000'000'000'000'013);
  CHECK(start_behind(Names{"events.out.tfevents.1700000000.host.1.2.v2"}) == 1'700'000'001'000'000'000);
  CHECK(start_behind(Names{"events.out.tfevents.9999999999.000000012.h"}) == 0);  // beyond all clocks
}

TEST_CASE("a new file holds its version record before anything is added, and can survive a power cut") {
  MemoryFileSystem files;
  ManualClock clock(1'700'000'000'500'000'000);
  files.make_directory("logs");
  files.sync_directory(".");
  const std::string path = EventFile(files, clock, "logs", "", "", Durability::kDisk).path();
  files.reboot(PowerCut::kLosesAllUnsynced);
  std::string want;
  append_record(want, version_event(1700000000.0));  // whole seconds
  CHECK(files.contents().at(path) == want);
}

TEST_CASE("a file that cannot be begun is not left behind") {
  for (int nth = 1; nth <= 5; ++nth) {
    CAPTURE(nth);
    MemoryFileSystem memory;
    FaultFileSystem files(memory);
    ManualClock clock;
    memory.make_directory("logs");
    files.fail_at(nth, Fault::kNoSpace);
    CHECK_THROWS_AS(EventFile(files, clock, "logs", "", "", Durability::kDisk), ResourceExhausted);
    CHECK(memory.list("logs").empty());
  }
}

TEST_CASE("a file that was removed has vanished") {
  MemoryFileSystem files;
  ManualClock clock;
  files.make_directory("logs");
  const EventFile file(files, clock, "logs", "");
  CHECK_FALSE(file.vanished());
  files.remove(file.path());
  CHECK(file.vanished());
}
