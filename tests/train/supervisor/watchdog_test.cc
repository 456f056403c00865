// Watchdog: what is overdue is said, once for each doubling, and nothing else is.
#include "train/supervisor/watchdog.h"

#include <doctest/doctest.h>

#include "tests/graph/until.h"
#include "tests/train/supervisor/logged_lines.h"

using namespace runnel;

namespace {

// Moves the clock on, and returns when the watchdog sleeps again.
void pass(ManualClock& clock, double seconds) {
  clock.advance(seconds);
  until([&] { return clock.waiting() > 0; });
}

std::size_t lines(const LoggedLines& log) {
  std::size_t out = 0;
  for (const std::string& line : log.all()) out += line.find("its interval") != line.npos ? 1u : 0u;
  return out;
}

}  // namespace

TEST_CASE("what stalls is noticed an interval after it was due, and again when the delay has doubled") {
  const LoggedLines log;
  ManualClock clock;
  Coordinator coord({.clock = &clock});
  const auto dog = Watchdog::start(coord);
  const int number = dog->expect("checkpoint", 1, CoordinatedThread("checkpoint service"));
  pass(clock, 0);
  pass(clock, 1);
  dog->done(number);
  pass(clock, 1.9);
  CHECK(lines(log) == 0);
  pass(clock, 0.1);
  CHECK(log.all().back() ==
        "warning: no checkpoint for 2 x its interval of 1 s: the thread 'checkpoint service' does not say "
        "what it "
        "does; training goes on");
  for (int i = 0; i < 58; ++i) pass(clock, 1);
  CHECK(lines(log) == 5);  // for 2, 4, 8, 16, 32
  dog->done(number);
  pass(clock, 1.5);
  CHECK(lines(log) == 5);
  coord.request_stop();
  coord.join();
}

TEST_CASE("a watchdog that sleeps hears of what is expected later, and ends when training stops") {
  const LoggedLines log;
  ManualClock clock;
  Coordinator coord({.clock = &clock});
  const auto dog = Watchdog::start(coord);
  dog->expect("summary", 1e300, CoordinatedThread("never"));
  dog->expect("checkpoint", 600, CoordinatedThread("checkpoint service"));
  until([&] { return clock.waiting() > 0; });
  pass(clock, 1200);
  CHECK(lines(log) == 1);
  coord.request_stop();
  coord.join();
  CHECK(clock.waiting() == 0);
}
