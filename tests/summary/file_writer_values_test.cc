// What single methods of FileWriter write: several scalars, ready buckets, graphs, odd tags, large events.
#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include "graph/error.h"
#include "graph/io/memory_file_system.h"
#include "graph/runtime/session.h"
#include "ops/array_ops.h"
#include "summary/file_writer.h"
#include "tests/summary/reading.h"

using namespace runnel;

namespace {

struct Bench {
  MemoryFileSystem files;
  ManualClock clock;
  FileWriter writer{"logs", {.clock = &clock, .files = &files}};
  std::vector<pb::Event> events() {
    writer.flush();
    return events_in(files, "logs");
  }
};

int count(const std::vector<pb::Event>& events, bool (pb::Event::*has)() const) {
  int out = 0;
  for (const pb::Event& event : events) out += (event.*has)();
  return out;
}

}  // namespace

TEST_CASE("several scalars are one event, each under the main tag") {
  Bench b;
  b.writer.scalars("loss", {{"train", 1}, {"test", 2.5}}, 7);
  b.writer.scalars("", {{"alone", 3}}, 8);
  const auto events = b.events();
  REQUIRE(events.size() == 2);
  REQUIRE(events[0].summary().value_size() == 2);
  CHECK(events[0].step() == 7);
  CHECK(events[0].summary().value(0).tag() == "loss/train");
  CHECK(events[0].summary().value(1).tag() == "loss/test");
  CHECK(events[0].summary().value(1).simple_value() == 2.5f);
  CHECK(events[1].summary().value(0).tag() == "alone");
}

TEST_CASE("a histogram with ready buckets is written with them") {
  Bench b;
  const std::vector<double> limits = {0, 1, 3}, counts = {0, 2, 1};
  b.writer.histogram("h", histogram_of_buckets(limits, counts), 4);
  const pb::HistogramProto h = b.events().at(0).summary().value(0).histo();
  CHECK(std::vector<double>(h.bucket_limit().begin(), h.bucket_limit().end()) == limits);
  CHECK(std::vector<double>(h.bucket().begin(), h.bucket().end()) == counts);
  CHECK(h.num() == 3);
  CHECK(h.max() == 3);
  CHECK_THROWS_WITH_AS(b.writer.histogram("h", Histogram{.limits = {1, 0}, .counts = {1, 1}}, 5),
                       "histogram 'h' at step 5: limit 1 is 0; limits must ascend", InvalidArgument);
}

TEST_CASE("tags come back byte for byte, and one that is not UTF-8 is refused by each method") {
  Bench b;
  const std::vector<std::string> tags = {"",
                                         "/",
                                         " a b ",
                                         std::string("nul\0l", 5),
                                         "line\nend\t\"'\\%[]*?",
                                         "\xc3\xa4\xe2\x82\xac\xf0\x9f\x9a\x80",
                                         std::string(100'000, 'x')};
  for (const std::string& tag : tags) b.writer.scalar(tag, 1);
  const auto events = b.events();
  REQUIRE(events.size() == tags.size());
  for (std::size_t i = 0; i < tags.size(); ++i) CHECK(events[i].summary().value(0).tag() == tags[i]);
  const std::vector<float> values = {1};
  CHECK_THROWS_AS(b.writer.scalar("\xff", 1), InvalidArgument);
  CHECK_THROWS_AS(b.writer.scalars("\xff", {{"a", 1}}), InvalidArgument);
  CHECK_THROWS_AS(b.writer.histogram("\xff", std::span<const float>(values)), InvalidArgument);
  CHECK_THROWS_AS(b.writer.histogram("\xff", histogram_of(std::span<const float>(values))), InvalidArgument);
}

TEST_CASE("the time of an event has microseconds") {
  Bench b;
  b.clock.advance(0.25);
  b.writer.scalar("loss", 1);
  b.clock.advance(0.000001);
  b.writer.scalar("loss", 1);
  const auto events = b.events();
  CHECK(events[0].wall_time() == 1.7e9 + 0.25);
  CHECK(events[1].wall_time() - events[0].wall_time() == doctest::Approx(1e-6).epsilon(0.3));
}

TEST_CASE("a graph is written once a writer, however often it is added, also in a later file") {
  Bench b;
  Graph g;
  const Output x = placeholder<float>(g, Shape{}, "x");
  for (int i = 0; i < 2; ++i) b.writer.add_graph(g, i);
  b.writer.close();
  b.writer.reopen();
  b.writer.add_graph(g);
  CHECK(count(b.events(), &pb::Event::has_graph_def) == 1);
  CHECK(count(b.events(), &pb::Event::has_meta_graph_def) == 1);
  identity(x);
  b.writer.add_graph(g);  // another graph now
  CHECK(count(b.events(), &pb::Event::has_graph_def) == 2);
}

TEST_CASE("each of three restarts writes the graph once, without a large constant's values") {
  Graph g;
  constant(g, Tensor::zeros(DType::kFloat, Shape{1'000'000}), {.name = "data"});
  MemoryFileSystem files;
  for (int restart = 0; restart < 3; ++restart)
    FileWriter("logs", g, {.purge_step = restart, .files = &files});
  const auto events = events_in(files, "logs");
  CHECK(count(events, &pb::Event::has_graph_def) == 3);
  for (const pb::Event& event : events) CHECK(event.ByteSizeLong() < 10'000);
}

TEST_CASE("a writer of a session begins with the session's graph") {
  Graph g;
  placeholder<float>(g, Shape{}, "x");
  const Session session(g);
  MemoryFileSystem files;
  FileWriter("logs", session, {.files = &files});
  CHECK(count(events_in(files, "logs"), &pb::Event::has_graph_def) == 1);
}

TEST_CASE("large and small events of one thread keep their order") {
  Bench b;
  for (int step = 0; step < 40; ++step)
    b.writer.scalar(std::string(step % 3 == 0 ? 300'000 : 10, 't'), 1, step);
  const auto events = b.events();
  REQUIRE(events.size() == 40);
  for (int step = 0; step < 40; ++step) CHECK(events[step].step() == step);
}

TEST_CASE("an event above the queue's bound is written when nothing else waits") {
  Bench b;
  b.writer.scalar(std::string(70 << 20, 't'), 1, 1);
  CHECK(b.events().size() == 1);
  CHECK(b.writer.lost() == 0);
}
