// Which checkpoints of a training are evaluated.
#include "train/estimator/evaluating_listener.h"

#include <doctest/doctest.h>

#include "tests/train/supervisor/logged_lines.h"

using namespace runnel;

namespace {

struct Saves {
  explicit Saves(double throttle_secs, std::int64_t min_steps = 0, Coordinator* coord = nullptr)
      : listener({.evaluate =
                      [this] {
                        evaluated.push_back(step);
                        EvaluationResult result;
                        result.values = {{"global_step", Tensor::scalar(step)}};
                        return result;
                      },
                  .throttle_secs = throttle_secs,
                  .min_steps = min_steps,
                  .clock = &clock,
                  .coord = coord}) {}

  void save(std::int64_t at_step, double after_seconds = 1) {
    clock.advance(after_seconds);
    step = at_step;
    CHECK_FALSE(listener.after_save(session, at_step));
  }

  ManualClock clock;
  Graph graph;
  Session session{graph};
  std::int64_t step = 0;
  std::vector<std::int64_t> evaluated;
  EvaluatingListener listener;
};

}  // namespace

TEST_CASE("the checkpoint that training starts from is not evaluated, the next one is") {
  Saves saves(600);
  saves.save(100);
  CHECK(saves.evaluated.empty());
  saves.save(110);
  CHECK(saves.evaluated == std::vector<std::int64_t>{110});
  CHECK(saves.listener.evaluated_step() == 110);
  CHECK(saves.listener.result().global_step() == 110);
}

TEST_CASE("checkpoints within the throttle are passed over with a line in the log") {
  const LoggedLines log;
  Saves saves(60);
  saves.save(0);
  saves.save(10);
  saves.save(20, 59.5);
  CHECK(log.has("Skipping the evaluation of the checkpoint of step 20"));
  saves.save(30, 0.5);
  CHECK(saves.evaluated == std::vector<std::int64_t>{10, 30});
}

TEST_CASE("checkpoints with too few new steps are passed over, and none is evaluated twice") {
  Saves saves(0, 20);
  saves.save(5);
  saves.save(24);
  saves.save(25);
  saves.save(25);
  saves.save(44);
  saves.save(45);
  CHECK(saves.evaluated == std::vector<std::int64_t>{25, 45});
  Saves twice(0);
  for (const std::int64_t step : {0, 10, 10}) twice.save(step);
  CHECK(twice.evaluated == std::vector<std::int64_t>{10});
}

TEST_CASE("nothing is evaluated once a stop is asked for") {
  Coordinator coord;
  Saves saves(0, 0, &coord);
  saves.save(0);
  coord.request_stop();
  saves.save(10);
  CHECK(saves.evaluated.empty());
}
