// When a period is over.
#include "train/monitored/second_or_step_timer.h"

#include <doctest/doctest.h>

#include <limits>

#include "graph/error.h"

using namespace runnel;

TEST_CASE("a timer triggers the first time, and then once in so many steps") {
  SecondOrStepTimer timer({.every_steps = 3});
  CHECK_FALSE(timer.last_triggered_step());
  CHECK(timer.should_trigger_for_step(7));
  CHECK_FALSE(timer.update_last_triggered_step(7));
  for (const int step : {7, 8, 9}) CHECK_FALSE(timer.should_trigger_for_step(step));
  for (const int step : {10, 11, 100}) CHECK(timer.should_trigger_for_step(step));
  CHECK(timer.last_triggered_step() == 7);
  timer.reset();
  CHECK(timer.should_trigger_for_step(7));
}

TEST_CASE("a timer of seconds triggers when they are over, but never twice at one step") {
  ManualClock clock;
  SecondOrStepTimer timer({.every_secs = 2, .clock = &clock});
  timer.update_last_triggered_step(1);
  clock.advance(1.5);
  CHECK_FALSE(timer.should_trigger_for_step(2));
  clock.advance(0.5);
  CHECK(timer.should_trigger_for_step(2));
  CHECK_FALSE(timer.should_trigger_for_step(1));
  const auto elapsed = timer.update_last_triggered_step(5);
  REQUIRE(elapsed);
  CHECK(elapsed->secs == doctest::Approx(2));
  CHECK(elapsed->steps == 4);
}

TEST_CASE("of two periods the one that is over first counts") {
  ManualClock clock;
  SecondOrStepTimer timer({.every_secs = 10, .every_steps = 100, .clock = &clock});
  timer.update_last_triggered_step(0);
  CHECK_FALSE(timer.should_trigger_for_step(99));
  CHECK(timer.should_trigger_for_step(100));
  clock.advance(10);
  CHECK(timer.should_trigger_for_step(1));
}

TEST_CASE("a step below that of the last trigger, as after a recovery, is no period") {
  SecondOrStepTimer timer({.every_steps = 3});
  timer.update_last_triggered_step(100);
  CHECK_FALSE(timer.should_trigger_for_step(97));
  CHECK_FALSE(timer.should_trigger_for_step(-5));
}

TEST_CASE("a timer without a period, or with one that is none, is refused") {
  CHECK_THROWS_WITH_AS(SecondOrStepTimer({}),
                       "a timer needs a period: give seconds, steps, or both (whichever comes first)",
                       InvalidArgument);
  CHECK_THROWS_WITH_AS(SecondOrStepTimer({.every_steps = -1}),
                       "a timer cannot act every -1 steps: give 1 for every step, or more", InvalidArgument);
  CHECK_THROWS_AS(SecondOrStepTimer({.every_secs = -0.5}), InvalidArgument);
  CHECK_THROWS_AS(SecondOrStepTimer({.every_secs = std::numeric_limits<double>::quiet_NaN()}),
                  InvalidArgument);
}

TEST_CASE("a timer that never triggers remembers nothing") {
  NeverTriggerTimer timer;
  CHECK_FALSE(timer.should_trigger_for_step(0));
  CHECK_FALSE(timer.update_last_triggered_step(3));
  CHECK_FALSE(timer.last_triggered_step());
}
