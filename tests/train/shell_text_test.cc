// Quoting for a shell.
#include "train/cli/shell_text.h"

#include <doctest/doctest.h>

using namespace runnel;

TEST_CASE("single quotes keep every character but themselves") {
  CHECK(quoted_for_shell("a b$c\\d\"*") == "'a b$c\\d\"*'");
  CHECK(quoted_for_shell("it's") == "'it'\\''s'");
  CHECK(quoted_for_shell("") == "''");
}

TEST_CASE("what a terminal acts upon is written as numbers") {
  CHECK(quoted_for_shell("a\n'\x1b\\") == "$'a\\012\\047\\033\\134'");
}
