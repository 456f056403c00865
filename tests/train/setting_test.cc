// Setting: its three states, and what converts into it.
#include "train/setting.h"

#include <doctest/doctest.h>

#include <string>

#include "graph/node.h"

using namespace runnel;

namespace {

struct Options {
  Setting<double> save_secs;
  Setting<Output> summary_op = none;
  Setting<std::string> name;
};

}  // namespace

TEST_CASE("an argument left alone, one switched off and one given are three different things") {
  const Options options{.save_secs = 60, .name = "sv"};
  CHECK(options.save_secs.value() == 60.0);
  CHECK(options.summary_op.is_none());
  CHECK(options.name.value() == "sv");
  CHECK(Options{}.name.is_default());
  CHECK_FALSE(Options{}.name.is_none());
  CHECK_FALSE(Setting<double>(use_default).has_value());
  CHECK(Setting<double>(none).value_or(7) == 7);
}

TEST_CASE("a value that was not given is refused") {
  CHECK_THROWS_WITH_AS(Setting<double>(none).value(), "Setting: it is none; ask has_value() first",
                       FailedPrecondition);
  CHECK_THROWS_AS(Setting<double>().value(), FailedPrecondition);
}
