// What `runnel events` makes of patterns, numbers and texts.
#include "train/cli/event_text.h"

#include <doctest/doctest.h>

#include <cmath>

#include "train/cli/event_jobs.h"

using namespace runnel;

namespace {

bool matches(const char* pattern, const char* tag) {
  return EventSelection{.path = "", .tags = {pattern}}.has_tag(tag);
}

EventPoint point(double number, DType dtype) { return {.at = {}, .number = number, .dtype = dtype}; }

}  // namespace

TEST_CASE("a star stands for any characters, none too, and everything else for itself") {
  for (const char* pattern :
       {"train/loss", "*", "train/*", "*loss", "t*n/l*s", "train/loss*", "**loss", "*a*o*"})
    CHECK_MESSAGE(matches(pattern, "train/loss"), pattern);
  for (const char* pattern : {"", "loss", "train", "*x*", "train/loss?", "train/*s*s*s", "TRAIN/LOSS"})
    CHECK_FALSE_MESSAGE(matches(pattern, "train/loss"), pattern);
  CHECK(matches("", ""));
}

TEST_CASE("without a pattern everything is wanted, with several what one of them matches") {
  CHECK(EventSelection{.path = ""}.has_tag("any"));
  const EventSelection two{.path = "", .runs = {"a", "b*"}};
  CHECK(two.has_run("bc"));
  CHECK_FALSE(two.has_run("c"));
}

TEST_CASE("a number is the shortest text that reads back as it in its type") {
  CHECK(number_text(point(0.1f, DType::kFloat)) == "0.1");
  CHECK(number_text(point(0.1f, DType::kDouble)) == "0.10000000149011612");
  CHECK(number_text(point(NAN, DType::kFloat)) == "nan");
  CHECK(number_json(point(-INFINITY, DType::kFloat)) == "\"-inf\"");
  CHECK(number_json(point(16777217, DType::kInt32)) == "16777217");
}

TEST_CASE("a CSV field is quoted where it must be, and quotes in it doubled") {
  CHECK(csv_text("plain text") == "plain text");
  CHECK(csv_text("a,b") == "\"a,b\"");
  CHECK(csv_text("say \"x\"\n") == "\"say \"\"x\"\"\n\"");
}

TEST_CASE("damage is told with the command's option, or without one") {
  const EventDamage damage{.offset = 3,
                           .what = "f: bad; good, and skip_damaged passes over a damaged record"};
  CHECK(damage_line(damage) == "f: bad; good, and --skip-damaged passes over a damaged record");
  CHECK(damage_line(damage, false) == "f: bad; good");
  CHECK(damage_line({.what = "skip_damaged/f is damaged"}) == "skip_damaged/f is damaged");
}
