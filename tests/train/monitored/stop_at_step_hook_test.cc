// Ending at a step.
#include "train/monitored/stop_at_step_hook.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>

#include "tests/train/monitored/hook_driver.h"

using namespace runnel;

TEST_CASE("training ends at the last step, for the reason that it is reached") {
  for (const bool resource : {false, true}) {
    CAPTURE(resource);
    Counting m(resource);
    HookDriver driver(m.graph, m.init, {stop_at_step(3)});
    driver.run(m.train, 2);
    CHECK_FALSE(driver.stop);
    driver.run(m.train, 1);
    REQUIRE(driver.stop);
    CHECK(driver.stop->cause == StopCause::kStepsReached);
    CHECK(driver.stop->why == "global step 3 is reached");
    CHECK(driver.stop->hook == "StopAtStepHook");
  }
}

TEST_CASE("a number of steps counts from where the first session begins, whatever a later one begins with") {
  Counting m;
  const Hook hook = stop_after_steps(3);
  HookDriver driver(m.graph, m.init, {hook});
  driver.run(m.train, 2);
  driver.open(1, m.train);  // recovered, one step back
  driver.run(m.train, 1);
  CHECK_FALSE(driver.stop);
  driver.run(m.train, 1);
  CHECK(driver.stop);
}

TEST_CASE("more steps than a number can count never end") {
  Counting m;
  const Hook hook = stop_after_steps(std::numeric_limits<std::int64_t>::max());
  HookDriver driver(m.graph, m.init, {});
  driver.session->run(m.train);
  hook->begin(m.graph);
  hook->after_create_session(*driver.session, driver.coord);
  CHECK_FALSE(driver.coord.should_stop());
}

TEST_CASE("a run that does not train brings the end no nearer") {
  Counting m;
  HookDriver driver(m.graph, m.init, {stop_at_step(1)});
  driver.run({m.loss});
  CHECK_FALSE(driver.stop);
}

TEST_CASE("a session that begins at the last step is asked to stop before it runs") {
  Counting m;
  HookDriver driver(m.graph, m.init, {stop_at_step(2)});
  CHECK_FALSE(driver.coord.should_stop());
  driver.open(2, m.train);
  CHECK(driver.coord.stop_reason().cause == StopCause::kStepsReached);
  CHECK(driver.coord.stop_reason().text == "global step 2 is reached");
}

TEST_CASE("the step of a ref variable costs no run of its own") {
  Counting m;
  HookDriver driver(m.graph, m.init, {stop_at_step(100), stop_at_step(200)});
  const auto before = driver.session->stats().runs;
  driver.run(m.train, 10);
  CHECK(driver.session->stats().runs == before + 10);
}

TEST_CASE("a hook that stops at a step wants one number, and a global step") {
  CHECK_THROWS_WITH_AS(StopAtStepHook({}),
                       "StopAtStepHook was given neither of num_steps and last_step: give one of them",
                       InvalidArgument);
  CHECK_THROWS_AS(StopAtStepHook({.num_steps = 1, .last_step = 2}), InvalidArgument);
  CHECK_THROWS_WITH_AS(stop_at_step(-1), "StopAtStepHook cannot stop at step -1: give 0 or more",
                       InvalidArgument);
  Graph g;
  CHECK_THROWS_WITH_AS(
      stop_at_step(1)->begin(g),
      "StopAtStepHook needs a global step and the graph has none: call get_or_create_global_step(graph) "
      "and give the variable to minimize as .global_step",
      FailedPrecondition);
}
