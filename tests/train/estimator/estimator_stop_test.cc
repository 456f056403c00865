// A stop that comes while the input is waited for, from a caller's coordinator or another thread.
#include <doctest/doctest.h>

#include <thread>

#include "ops/queue_ops.h"
#include "tests/graph/scratch_directory.h"
#include "tests/train/estimator/line_model.h"
#include "train/estimator/experiment.h"

using namespace runnel;

namespace {

// A queue that nobody fills.
InputBatch waits(Graph& graph) {
  const FIFOQueue queue(graph, 1, {DType::kFloat, DType::kFloat}, {.shapes = {Shape{2}, Shape{2}}});
  const Outputs row = queue.dequeue().components();
  return {.features = {{"x", row[0]}}, .labels = row[1]};
}

// Asks for the stop right before the run that waits.
class StopBeforeRun final : public SessionRunHook {
 public:
  explicit StopBeforeRun(Coordinator& coord) : coord_(coord) {}
  std::string name() const override { return "StopBeforeRun"; }
  std::optional<SessionRunArgs> before_run(SessionRunContext&) override {
    coord_.request_stop(StopReason{.cause = StopCause::kSignal, .text = "SIGTERM", .signal = 15});
    return {};
  }

 private:
  Coordinator& coord_;
};

}  // namespace

TEST_CASE("a stop ends a training that waits for its input, and what was trained stays saved") {
  const ScratchDirectory scratch;
  Coordinator coord;
  Estimator estimator = line::estimator(scratch.path());
  estimator.train(line::all_rows, {.max_steps = 3});
  estimator.train(waits, {.hooks = {std::make_shared<StopBeforeRun>(coord)}, .coord = &coord});
  CHECK(estimator.stop_reason().cause == StopCause::kSignal);
  CHECK_FALSE(estimator.final_loss());
  CHECK(line::saved_steps(scratch.path()) == std::vector<std::int64_t>{0, 3});
}

TEST_CASE("a stop ends evaluations and predictions that wait for their input") {
  const ScratchDirectory scratch;
  Estimator estimator = line::estimator(scratch.path());
  Coordinator first, second;
  CHECK(estimator.evaluate(waits, {.hooks = {std::make_shared<StopBeforeRun>(first)}, .coord = &first})
            .empty());
  CHECK(estimator.predict(waits, {.hooks = {std::make_shared<StopBeforeRun>(second)}, .coord = &second})
            .empty());
  CHECK_FALSE(real_file_system().exists(scratch / "eval"));
}

TEST_CASE("a stop from another thread ends a training and an evaluation, whatever they do just then") {
  const ScratchDirectory scratch;
  for (int round = 0; round < 20; ++round) {
    Coordinator coord;
    Estimator estimator = line::estimator(scratch.path());
    std::jthread stopper([&] { coord.request_stop(); });
    estimator.train(waits, {.coord = &coord});
    CHECK(estimator.evaluate(waits, {.coord = &coord}).empty());
    stopper.join();
  }
}

TEST_CASE("an error of the input leaves no link to the coordinator outside") {
  const ScratchDirectory scratch;
  Coordinator coord;
  class Fails final : public SessionRunHook {
   public:
    std::string name() const override { return "Fails"; }
    void after_run(SessionRunContext&, const SessionRunValues&) override { throw Internal("no more"); }
  };
  Estimator estimator = line::estimator(scratch.path());
  CHECK_THROWS_AS(estimator.train(line::all_rows, {.hooks = {std::make_shared<Fails>()}, .coord = &coord}),
                  Internal);
  coord.request_stop();
  CHECK(estimator.evaluate(line::all_rows, {.coord = &coord}).empty());
}
