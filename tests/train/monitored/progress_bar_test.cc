// What the person who waits sees.
#include "train/monitored/progress_bar.h"

#include <doctest/doctest.h>

#include "tests/train/monitored/hook_driver.h"

using namespace runnel;

namespace {

struct Screen {
  std::string seen;
  ManualClock clock;
  ProgressBarOptions options(bool terminal) {
    return {.terminal = terminal, .write = [this](std::string_view text) { seen += text; }, .clock = &clock};
  }
  std::string take() { return std::exchange(seen, ""); }
};

}  // namespace

TEST_CASE("elsewhere than on a terminal a line comes every ten seconds, with rate, time to go and loss") {
  Screen screen;
  Counting m;
  ProgressBarOptions options = screen.options(false);
  options.loss = m.loss;
  HookDriver driver(m.graph, m.init, {progress_bar(40, options)});
  for (int i = 0; i < 21; ++i) {
    driver.run({m.train});
    screen.clock.advance(1);
  }
  CHECK(screen.take() ==
        "step 1/40 (2%)  loss 1\n"
        "step 11/40 (27%)  1.0 steps/s  ETA 0:29  loss 0.09091\n"
        "step 21/40 (52%)  1.0 steps/s  ETA 0:19  loss 0.04762\n");
  driver.run(m.train, 19);
  driver.end();
  CHECK(screen.take() == "step 40/40 (100%)  1.9 steps/s  in 0:21  loss 0.025\n");
}

TEST_CASE("on a terminal one line is drawn over until it is full") {
  Screen screen;
  {
    ProgressBar bar(200, screen.options(true));
    bar.update(0);
    CHECK(screen.take() == "\r[........................]   0% 0/200\x1b[K");
    screen.clock.advance(1);
    bar.update(100, [] { return std::string("loss 0.5"); });
    CHECK(screen.take() ==
          "\r[############............]  50% 100/200  100.0 steps/s  ETA 0:01  loss 0.5\x1b[K");
    screen.clock.advance(7199);
    bar.finish(200);
    CHECK(screen.take() == "\r[########################] 100% 200/200  36.0 s/step  in 2:00:00\x1b[K\n");
    bar.finish(200);
  }
  CHECK(screen.take().empty());
}

TEST_CASE("the last step fills the bar and ends its line, at once, and what comes after is not drawn") {
  Screen screen;
  ProgressBarOptions options = screen.options(true);
  options.unit = "epoch";
  ProgressBar bar(2, options);
  bar.update(1);
  screen.clock.advance(0.05);
  bar.update(2);
  CHECK(screen.take().ends_with("100% 2/2  20.0 epochs/s  in 0:00\x1b[K\n"));
  bar.update(3);
  bar.finish(3);
  CHECK(screen.take().empty());
}

TEST_CASE("a bar that is left in the middle leaves its line") {
  Screen screen;
  { ProgressBar(10, screen.options(true)).update(5); }
  CHECK(screen.take().ends_with("5/10\x1b[K\n"));
}

TEST_CASE("a bar is drawn at most ten times a second, and asks for its note only then") {
  Screen screen;
  ProgressBar bar(1'000'000, screen.options(true));
  int drawn = 0;
  for (int i = 1; i <= 1000; ++i) {
    bar.update(i, [&] { return cat("note ", ++drawn); });
    screen.clock.advance(0.001);
  }
  CHECK(drawn == 10);
}

TEST_CASE("the rate follows a loop that becomes slower") {
  Screen screen;
  ProgressBar bar(10'000, screen.options(false));
  for (const int done : {0, 1000, 2000, 2010, 2020}) {
    bar.update(done);
    screen.clock.advance(10);
  }
  CHECK(screen.seen.find("2000/10000 (20%)  100.0 steps/s  ETA 1:20\n") != std::string::npos);
  CHECK(screen.seen.find("2020/10000 (20%)  2.") != std::string::npos);
}

TEST_CASE("runs between two drawings fetch nothing for it, but for the last") {
  Screen screen;
  Counting m;
  ProgressBarOptions options = screen.options(true);
  options.loss = m.loss;
  const Hook hook = progress_bar(10, options);
  hook->begin(m.graph);
  Session session(m.graph);
  session.run(m.init);
  Coordinator coord;
  hook->after_create_session(session, coord);
  std::vector<int> fetching;
  HookedRun runs({hook});
  for (int i = 1; i <= 10; ++i) {
    if (i == 5) screen.clock.advance(0.1);
    screen.take();
    const Fetch fetches[] = {m.train};
    Tensor out;
    runs.run(session, fetches, {}, {}, &out);
    if (!screen.take().empty()) fetching.push_back(i);
  }
  CHECK(fetching == std::vector<int>{1, 5, 10});
  CHECK(session.stats().plans_made == 4);  // init, the step, train alone, train with both fetches
}

TEST_CASE("a session that goes on begins where it is, one without a global step at nothing") {
  Screen screen;
  Counting m;
  HookDriver driver(m.graph, m.init, {progress_bar(100, screen.options(false))});
  driver.open(50, m.train);
  driver.run(m.train, 1);
  CHECK(screen.take() == "step 51/100 (51%)\n");
  Graph g;
  const Operation nothing = no_op(g);
  HookDriver plain(g, nothing, {progress_bar(4, screen.options(false))});
  plain.run(nothing, 2);
  plain.end();
  CHECK(screen.take() == "step 1/4 (25%)\nstep 2/4 (50%)  in 0:00\n");
}

TEST_CASE("long text leaves a shorter bar, so that the line fits") {
  Screen screen;
  ProgressBar bar(1'000'000, screen.options(true));
  bar.update(500'000, [] { return std::string(50, 'x'); });
  CHECK(screen.seen.size() == 79 + std::string_view("\r\x1b[K").size());
  CHECK(screen.seen.find("500000/1000000") != std::string::npos);
}

TEST_CASE("a bar of no steps, or of negative times, is refused") {
  CHECK_THROWS_WITH_AS(progress_bar(0), "progress_bar: 0 steps are no way to go: give 1 or more",
                       InvalidArgument);
  CHECK_THROWS_WITH_AS(progress_bar(1, {.bar_secs = -1}), "progress_bar: bar_secs is -1: give 0 or more",
                       InvalidArgument);
}
