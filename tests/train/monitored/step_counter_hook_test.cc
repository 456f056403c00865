// Steps a second.
#include "train/monitored/step_counter_hook.h"

#include <doctest/doctest.h>

#include "summary/summary.h"
#include "tests/graph/scratch_directory.h"
#include "tests/train/monitored/event_lines.h"
#include "tests/train/monitored/hook_driver.h"
#include "tests/train/supervisor/logged_lines.h"

using namespace runnel;

TEST_CASE("seven steps counted every two give rates at steps 3, 5 and 7, in the log and in the file") {
  const ScratchDirectory scratch;
  ManualClock clock;
  Counting m;
  HookDriver driver(m.graph, m.init,
                    {step_counter({.every_n_steps = 2, .output_dir = scratch.path(), .clock = &clock})});
  const LoggedLines log;
  for (int i = 0; i < 7; ++i) {
    clock.advance(0.125);
    driver.run({m.train});
  }
  FileWriterCache::clear();
  using Lines = std::vector<std::string>;
  CHECK(event_lines(scratch.path()) ==
        Lines{"version", "START 1", "global_step/sec 3", "global_step/sec 5", "global_step/sec 7"});
  CHECK(log.all() == Lines(3, "info: global_step/sec: 8"));
}

TEST_CASE("a rate by seconds counts the steps that were done in them") {
  ManualClock clock;
  Counting m(true);
  HookDriver driver(m.graph, m.init,
                    {step_counter({.every_n_steps = std::nullopt, .every_n_secs = 2, .clock = &clock})});
  const LoggedLines log;
  driver.run(m.train, 5);
  CHECK(log.all().empty());
  clock.advance(2);
  driver.run(m.train, 1);
  CHECK(log.all() == std::vector<std::string>{"info: global_step/sec: 2.5"});
}

TEST_CASE("after a recovery the clock starts anew") {
  ManualClock clock;
  Counting m;
  HookDriver driver(m.graph, m.init, {step_counter({.every_n_steps = 1, .clock = &clock})});
  driver.run(m.train, 1);
  clock.advance(100);
  driver.open();
  const LoggedLines log;
  driver.run(m.train, 2);
  CHECK(log.all().empty());
}

TEST_CASE("a global step that stands still is warned of five times") {
  Counting m;
  HookDriver driver(m.graph, m.init, {step_counter()});
  const LoggedLines log;
  for (int i = 0; i < 10; ++i) driver.run({m.loss});
  CHECK(log.all() == std::vector<std::string>(
                         5,
                         "warning: the global step 'global_step' has not been increased, it is 0 after "
                         "two runs: give the variable to minimize or apply_gradients as .global_step"));
}

TEST_CASE("a step counter has exactly one period") {
  CHECK_THROWS_WITH_AS(StepCounterHook({.every_n_secs = 1}),
                       "StepCounterHook counts by steps or by seconds and was given both: say "
                       ".every_n_steps = std::nullopt, or leave out every_n_secs",
                       InvalidArgument);
  CHECK_THROWS_AS(StepCounterHook({.every_n_steps = std::nullopt}), InvalidArgument);
}
