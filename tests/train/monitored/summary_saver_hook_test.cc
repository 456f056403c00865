// Summaries taken with the training step.
#include "train/monitored/summary_saver_hook.h"

#include <doctest/doctest.h>

#include "summary/summary.h"
#include "tests/graph/scratch_directory.h"
#include "tests/train/monitored/event_lines.h"
#include "tests/train/monitored/hook_driver.h"

using namespace runnel;
using Lines = std::vector<std::string>;

namespace {

struct Summed : Counting {
  explicit Summed(bool resource = false) : Counting(resource) {
    summary = summary::scalar("loss", loss);
    other = summary::scalar("other", loss);
  }
  Output summary, other;
};

}  // namespace

TEST_CASE("seven steps with summaries every two are labelled 1, 3, 5 and 7, behind START") {
  for (const bool resource : {false, true}) {
    CAPTURE(resource);
    const ScratchDirectory scratch;
    Summed m(resource);
    HookDriver driver(
        m.graph, m.init,
        {summary_saver({.save_steps = 2, .output_dir = scratch.path(), .summary_op = {m.summary}})});
    driver.run(m.train, 7);
    driver.end();  // flushes
    CHECK(event_lines(scratch.path()) == Lines{"version", "START 1", "loss 1", "loss 3", "loss 5", "loss 7"});
    FileWriterCache::clear();
  }
}

TEST_CASE("by seconds the first run records, and then the first after them") {
  const ScratchDirectory scratch;
  ManualClock clock;
  Summed m;
  HookDriver driver(m.graph, m.init,
                    {summary_saver({.save_secs = 1,
                                    .output_dir = scratch.path(),
                                    .summary_op = {m.summary, m.other},
                                    .clock = &clock})});
  driver.run(m.train, 3);
  clock.advance(1);
  driver.run(m.train, 3);
  FileWriterCache::clear();
  CHECK(event_lines(scratch.path()) == Lines{"version", "START 1", "loss 1", "other 1", "loss 4", "other 4"});
}

TEST_CASE("a session that goes on says START twice at the first step it will do, once for all hooks") {
  const ScratchDirectory scratch;
  const auto writer = std::make_shared<FileWriter>(scratch.path());
  Summed m;
  const SummarySaverHookOptions options{
      .save_steps = 10, .summary_writer = writer, .summary_op = {m.summary}};
  HookDriver driver(m.graph, m.init, {summary_saver(options), summary_saver(options)});
  driver.open(4, m.train);
  driver.run(m.train, 1);
  writer->close();
  CHECK(event_lines(scratch.path()) == Lines{"version", "START 1", "START 5", "START 5", "loss 5", "loss 5"});
}

TEST_CASE("without a writer nothing is fetched") {
  Summed m;
  HookDriver driver(m.graph, m.init, {summary_saver({.save_steps = 1, .summary_op = {m.summary}})});
  driver.run(m.train, 2);
  driver.end();
  const Hook hook = summary_saver({.save_steps = 1, .summary_op = {m.summary}});
  hook->begin(m.graph);
  const SessionRunArgs none;
  SessionRunContext context(none, *driver.session);
  CHECK_FALSE(hook->before_run(context));
}

TEST_CASE("a summary saver has a period, and one of scaffold and summary_op") {
  Summed m;
  CHECK_THROWS_WITH_AS(summary_saver({.save_steps = 1}),
                       "SummarySaverHook was given neither of scaffold and summary_op: give one of them",
                       InvalidArgument);
  CHECK_THROWS_AS(summary_saver({.save_steps = 1, .scaffold = Scaffold(), .summary_op = {m.summary}}),
                  InvalidArgument);
  CHECK_THROWS_AS(summary_saver({.summary_op = {m.summary}}), InvalidArgument);
}
