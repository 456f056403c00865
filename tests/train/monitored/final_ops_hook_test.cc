// What runs once at the end, and what is fed to every run.
#include "train/monitored/final_ops_hook.h"

#include <doctest/doctest.h>

#include "tests/train/monitored/hook_driver.h"
#include "tests/train/supervisor/logged_lines.h"
#include "train/monitored/feed_fn_hook.h"

using namespace runnel;

TEST_CASE("the final ops run once at the end, and their values stay") {
  Counting m;
  const Output offset = placeholder<float>(m.graph, {}, "offset");
  const auto hook = std::make_shared<FinalOpsHook>(
      std::vector<FinalOp>{{"sum", Fetch(m.loss + offset)}, {"step", Fetch(m.step)}, m.train},
      std::vector<Feed>{{offset, Tensor::scalar(10.0f)}});
  HookDriver driver(m.graph, m.init, {hook});
  driver.run(m.train, 1);
  CHECK(hook->final_ops_values().empty());
  CHECK_THROWS_AS(hook->final_ops_value("sum"), FailedPrecondition);
  driver.end();
  CHECK(hook->final_ops_values().size() == 3);
  CHECK(hook->final_ops_value("sum") == Tensor::scalar(10.5f));
  CHECK(driver.session->get<std::int64_t>(m.step) == 2);
  CHECK_THROWS_WITH_AS(hook->final_ops_value("mean"),
                       "FinalOpsHook has no op named 'mean': give it as {\"mean\", op}", NotFound);
}

TEST_CASE("a hook that is used again has no values until its second end") {
  Counting m;
  const auto hook = std::make_shared<FinalOpsHook>(std::vector<FinalOp>{{"step", Fetch(m.step)}});
  HookDriver(m.graph, m.init, {hook}).end();
  CHECK(hook->final_ops_values().size() == 1);
  const HookDriver again(m.graph, m.init, {hook});
  CHECK(hook->final_ops_values().empty());
}

TEST_CASE("final ops that read an exhausted input are warned of, and their error goes on") {
  Counting m;
  const Output last = count_up_to(m.twin, 0);
  HookDriver driver(m.graph, m.init, {final_ops({last})});
  const LoggedLines log;
  CHECK_THROWS_AS(driver.end(), OutOfRange);
  CHECK(log.has("warning: FinalOpsHook: the final ops ended with OutOfRange"));
}

TEST_CASE("a feed function is asked before each run") {
  Graph g;
  const Output x = placeholder<float>(g, {}, "x");
  float calls = 0;
  HookDriver driver(g, no_op(g), {feed_fn([&] { return std::vector<Feed>{{x, Tensor::scalar(++calls)}}; })});
  CHECK(driver.run(std::vector<Fetch>{x})[0] == Tensor::scalar(1.0f));
  CHECK(driver.run(std::vector<Fetch>{x})[0] == Tensor::scalar(2.0f));
  CHECK_THROWS_WITH_AS(feed_fn({}), "FeedFnHook was given an empty function: give one that returns feeds",
                       InvalidArgument);
}
