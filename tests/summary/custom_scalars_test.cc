// The layout against TensorBoard's own function.
#include "summary/values/custom_scalars.h"

#include <doctest/doctest.h>

#include "graph/error.h"
#include "tests/summary/golden_plugins.h"

using namespace runnel;

TEST_CASE("a layout has the bytes of TensorBoard's function") {
  const std::string ours = custom_scalars_value(
      {{.title = "cat",
        .chart = {{.title = "lines", .multiline = {"loss.*"}},
                  {.title = "margin", .margin = {{.value = "m", .lower = "lo", .upper = "hi"}}}}}});
  CHECK(value_in(ours).SerializeAsString() ==
        golden_plugin_value("custom_scalars__config__").SerializeAsString());
}

TEST_CASE("a category may begin folded up") {
  pb::CustomScalarsLayout layout;
  const std::string bytes = custom_scalars_value({{.title = "a"}, {.title = "b", .closed = true}});
  REQUIRE(layout.ParseFromString(value_in(bytes).tensor().string_val(0)));
  CHECK_FALSE(layout.category(0).closed());
  CHECK(layout.category(1).closed());
}

TEST_CASE("a chart has lines or bands, and a layout has categories") {
  CHECK_THROWS_WITH_AS(custom_scalars_value({}), "the layout has no categories", InvalidArgument);
  CHECK_THROWS_WITH_AS(custom_scalars_value({{.title = "c", .chart = {{.title = "x"}}}}),
                       "chart 'x' has neither multiline nor margin: give one of them", InvalidArgument);
  CHECK_THROWS_AS(
      custom_scalars_value({{.title = "c", .chart = {{.multiline = {"a"}, .margin = {{.value = "v"}}}}}}),
      InvalidArgument);
  CHECK_THROWS_AS(custom_scalars_value({{.title = "\xff"}}), InvalidArgument);
}

TEST_CASE("a pattern that Python could not compile is refused, one that only RE2 cannot is not") {
  const auto layout = [](const std::string& pattern) {
    return custom_scalars_value({{.title = "c", .chart = {{.title = "x", .multiline = {"ok", pattern}}}}});
  };
  CHECK_THROWS_WITH_AS(layout("loss([)"),
                       "'loss([)' is no regular expression (missing ]: [)): put \\ before a character that "
                       "is meant as it is",
                       InvalidArgument);
  for (const char* pattern : {"loss([", "loss(", "loss)", "[z-a]", "*", "a|*", "a\\", "(?:a"})
    CHECK_THROWS_AS_MESSAGE(layout(pattern), InvalidArgument, std::string(pattern));
  for (const char* pattern :
       {"(?=a)b", "(?!a)b", "(?<=a)b", "(?<!a)b", "(a)\\1", "(?P<n>a)(?P=n)", "a\\Z", "a*+", "(?>a)", "(?x)a",
        "(?#c)a", "a{2000}", "a{", "[[:x:]]", "[[:alpha:]", "[]a]", "[a-c-e]", "", "loss.*"})
    CHECK_NOTHROW_MESSAGE(layout(pattern), std::string(pattern));
}
