// Waiting for others to train.
#include "train/monitored/global_step_waiter_hook.h"

#include <doctest/doctest.h>

#include <functional>
#include <thread>

#include "tests/graph/until.h"
#include "tests/train/monitored/hook_driver.h"
#include "tests/train/supervisor/logged_lines.h"

using namespace runnel;

namespace {

// Runs once while `call` runs on another thread, as soon as the run waits for a time.
void run_while(HookDriver& driver, ManualClock& clock, const std::function<void()>& call) {
  std::jthread other([&] {
    until([&] { return clock.waiting() > 0; });
    call();
  });
  driver.run({});
}

}  // namespace

TEST_CASE("the first run waits until the step is reached, and no later one does") {
  ManualClock clock;
  Counting m;
  HookDriver driver(m.graph, m.init, {global_step_waiter(3)}, &clock);
  const LoggedLines log;
  run_while(driver, clock, [&] {
    for (int i = 0; i < 3; ++i) driver.session->run(m.train);
    clock.advance(0.5);
  });
  CHECK(log.all() == std::vector<std::string>{"info: Waiting for global step 3 before starting training."});
  driver.open();
  driver.run({});
}

TEST_CASE("a wait ends with Cancelled when the coordinator stops") {
  ManualClock clock;
  Counting m;
  HookDriver driver(m.graph, m.init, {global_step_waiter(3)}, &clock);
  const LoggedLines log;
  CHECK_THROWS_WITH_AS(
      run_while(driver, clock, [&] { driver.coord.request_stop(); }),
      "GlobalStepWaiterHook waited for global step 3, now 0, when training was asked to stop", Cancelled);
}

TEST_CASE("progress of more than a thousand steps is told") {
  ManualClock clock;
  Counting m;
  const Operation leap = Operation(assign_add(m.step, 1500).node());
  HookDriver driver(m.graph, m.init, {global_step_waiter(3000)}, &clock);
  const LoggedLines log;
  run_while(driver, clock, [&] {
    driver.session->run(leap);
    clock.advance(0.5);
    until([&] { return log.has("1500") && clock.waiting() > 0; });
    driver.session->run(leap);
    clock.advance(0.5);
  });
  CHECK(log.has("Waiting for global step 3000 before starting training. Current step is 1500."));
}

TEST_CASE("no step to wait for is no wait") {
  Counting m;
  HookDriver driver(m.graph, m.init, {global_step_waiter(0), global_step_waiter(-1)});
  const LoggedLines log;
  driver.run({});
  CHECK(log.all().empty());
}
