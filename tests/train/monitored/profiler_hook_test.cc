// Recording a run now and then.
#include "train/monitored/profiler_hook.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <set>

#include "graph/io/file_system.h"
#include "summary/summary.h"
#include "tests/graph/scratch_directory.h"
#include "tests/train/monitored/event_lines.h"
#include "tests/train/monitored/hook_driver.h"
#include "tests/train/supervisor/logged_lines.h"

using namespace runnel;
using Lines = std::vector<std::string>;

namespace {

std::set<std::string> timelines(const std::string& directory) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory))
    if (entry.path().extension() == ".json") names.insert(entry.path().filename());
  return names;
}

}  // namespace

TEST_CASE("every two steps a run is recorded, but never the first") {
  const ScratchDirectory scratch;
  const LoggedLines log;
  Counting m;
  HookDriver driver(m.graph, m.init, {profiler({.save_steps = 2, .output_dir = scratch.path()})});
  driver.run(m.train, 5);
  FileWriterCache::clear();
  CHECK(timelines(scratch.path()) == std::set<std::string>{"timeline-2.json", "timeline-4.json"});
  const std::string json = read_file(real_file_system(), scratch / "timeline-2.json");
  CHECK(json.find("AssignAdd") != std::string::npos);
  CHECK(event_lines(scratch.path()) == Lines{"version", "step_2 2", "step_4 4"});
  CHECK(log.has(cat("info: Saving timeline for 2 into '", scratch / "timeline-2.json", "'.")));
}

TEST_CASE("by seconds the run after them is recorded") {
  const ScratchDirectory scratch;
  const LoggedLines log;
  ManualClock clock;
  Counting m(true);
  HookDriver driver(m.graph, m.init,
                    {profiler({.save_secs = 1, .output_dir = scratch.path(), .clock = &clock})});
  driver.run(m.train, 3);
  clock.advance(1);
  driver.run(m.train, 2);
  FileWriterCache::clear();
  CHECK(timelines(scratch.path()) == std::set<std::string>{"timeline-4.json"});
}

TEST_CASE("a step recorded twice, after a recovery, is a warning and no error") {
  const ScratchDirectory scratch;
  const LoggedLines log;
  Counting m;
  HookDriver driver(m.graph, m.init, {profiler({.save_steps = 2, .output_dir = scratch.path()})});
  driver.run(m.train, 2);
  driver.open();
  driver.run(m.train, 2);
  FileWriterCache::clear();
  CHECK(log.has("warning: ProfilerHook: the recording of step 2 is not written whole"));
}

TEST_CASE("a profiler without a period is refused") { CHECK_THROWS_AS(profiler({}), InvalidArgument); }
