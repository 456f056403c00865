// Lines of values.
#include "train/monitored/logging_tensor_hook.h"

#include <doctest/doctest.h>

#include "tests/train/monitored/hook_driver.h"
#include "tests/train/supervisor/logged_lines.h"

using namespace runnel;
using Lines = std::vector<std::string>;

TEST_CASE("seven runs logged every two give lines at 0, 2, 4 and 6, with the time from the second on") {
  ManualClock clock;
  Counting m;
  HookDriver driver(
      m.graph, m.init,
      {logging_tensor({{"step", m.step}, {"loss", m.loss}}, {.every_n_iter = 2, .clock = &clock})});
  const LoggedLines log;
  for (int i = 0; i < 7; ++i) {
    driver.run({m.train});
    clock.advance(0.008);
  }
  CHECK(log.all() == Lines{"info: loss = 1.0, step = 1", "info: loss = 0.33333334, step = 3 (0.016 sec)",
                           "info: loss = 0.2, step = 5 (0.016 sec)",
                           "info: loss = 0.14285715, step = 7 (0.016 sec)"});
}

TEST_CASE("tensors given by name or without tags stand in the order given") {
  Counting m;
  square(m.loss, {.name = "square"});
  HookDriver driver(m.graph, m.init, {logging_tensor({"twin:0", "square", m.loss}, {.every_n_iter = 1})});
  const LoggedLines log;
  driver.run({m.train});
  CHECK(log.all() == Lines{cat("info: twin:0 = 1, square = 1.0, ", m.loss.name(), " = 1.0")});
}

TEST_CASE("by seconds the line comes with the first run after them") {
  ManualClock clock;
  Counting m;
  HookDriver driver(m.graph, m.init,
                    {logging_tensor({{"step", m.step}}, {.every_n_secs = 1, .clock = &clock})});
  const LoggedLines log;
  driver.run(m.train, 3);
  clock.advance(1);
  driver.run(m.train, 2);
  CHECK(log.all() == Lines{"info: step = 1", "info: step = 4 (1.000 sec)"});
}

TEST_CASE("at the end there is one more line, or the only one") {
  ManualClock clock;
  Counting m;
  HookDriver driver(m.graph, m.init,
                    {logging_tensor({{"a", m.step}}, {.at_end = true}),
                     logging_tensor({{"b", m.step}}, {.every_n_iter = 10, .at_end = true, .clock = &clock})});
  const LoggedLines log;
  driver.run(m.train, 2);
  driver.end();
  CHECK(log.all() == Lines{"info: b = 1", "info: a = 2", "info: b = 2 (0.000 sec)"});
}

TEST_CASE("a formatter gets the values by tag and writes the line") {
  Counting m;
  const auto formatter = [](const std::map<std::string, Tensor>& values) {
    return cat("step ", values.at("step").scalar<std::int64_t>(), " of 10");
  };
  HookDriver driver(m.graph, m.init,
                    {logging_tensor({{"step", m.step}}, {.every_n_iter = 1, .formatter = formatter})});
  const LoggedLines log;
  driver.run(m.train, 2);
  CHECK(log.all() == Lines{"info: step 1 of 10", "info: step 2 of 10"});
}

TEST_CASE("periods, tags and names that cannot be are refused") {
  Graph g;
  const Output x = placeholder<float>(g, {4}, "x");
  split(x, 2, 0, {.name = "parts"});
  CHECK_THROWS_WITH_AS(logging_tensor({x}, {}),
                       "LoggingTensorHook was given neither of every_n_iter and every_n_secs: give one of "
                       "them, or at_end alone",
                       InvalidArgument);
  CHECK_THROWS_AS(logging_tensor({x}, {.every_n_iter = 1, .every_n_secs = 1}), InvalidArgument);
  CHECK_THROWS_WITH_AS(logging_tensor({x}, {.every_n_iter = 0}),
                       "LoggingTensorHook: every_n_iter is 0: give 1 or more", InvalidArgument);
  CHECK_THROWS_WITH_AS(logging_tensor({{"a", x}, {"a", "x"}}, {.every_n_iter = 1}),
                       "LoggingTensorHook: two tensors have the tag 'a': give each another, as {\"tag\", "
                       "tensor}",
                       InvalidArgument);
  CHECK_THROWS_WITH_AS(logging_tensor({"parts"}, {.every_n_iter = 1})->begin(g),
                       "LoggingTensorHook: 'parts' has 2 outputs: say which one, as \"parts:0\"",
                       InvalidArgument);
  CHECK_THROWS_AS(logging_tensor({"y"}, {.every_n_iter = 1})->begin(g), NotFound);
}
