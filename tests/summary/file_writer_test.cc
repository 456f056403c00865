// FileWriter while the disk is well: what is written, in which order, and when it is there.
#include "summary/file_writer.h"

#include <doctest/doctest.h>

#include <cmath>
#include <map>

#include "graph/io/memory_file_system.h"
#include "graph/log.h"
#include "graph/runtime/run_metadata.h"
#include "ops/array_ops.h"
#include "runnel/graph.pb.h"
#include "runnel/meta_graph.pb.h"
#include "summary/summary_ops.h"
#include "tests/graph/no_threads.h"
#include "tests/summary/reading.h"

using namespace runnel;

namespace {

struct Bench {
  MemoryFileSystem files;
  ManualClock clock;
  FileWriterOptions options() { return {.clock = &clock, .files = &files}; }
  FileWriterOptions synced() {
    FileWriterOptions out = options();
    out.sync = true;
    return out;
  }
  FileWriterOptions going_on_at(std::int64_t step) {
    FileWriterOptions out = options();
    out.purge_step = step;
    return out;
  }
  std::vector<std::int64_t> steps() { return steps_in(files, "logs"); }
};

std::string summary_with_metadata(const std::string& tag) {
  pb::Summary summary;
  summary.add_value()->set_tag(tag);
  summary.mutable_value(0)->mutable_metadata()->mutable_plugin_data()->set_plugin_name("text");
  return summary.SerializeAsString();
}

}  // namespace

TEST_CASE("a scalar becomes one event with tag, float value, step and time") {
  Bench b;
  FileWriter writer("logs", b.options());
  writer.scalar("train/loss", 0.1, 7);
  writer.flush();
  const auto events = events_of(b.files, "logs/" + b.files.list("logs").at(0));
  REQUIRE(events.size() == 2);
  CHECK(events[0].file_version() == "brain.Event:2");
  CHECK(events[0].wall_time() == 1.7e9);
  CHECK(events[1].step() == 7);
  CHECK(events[1].wall_time() == 1.7e9);
  CHECK(events[1].summary().value(0).tag() == "train/loss");
  CHECK(events[1].summary().value(0).simple_value() == 0.1f);
}

TEST_CASE("a synced writer's version record is on the disk before anything is added") {
  Bench b;
  const FileWriter writer("new/logs", b.synced());
  b.files.reboot(PowerCut::kLosesAllUnsynced);
  CHECK(b.files.file_size("new/logs/" + b.files.list("new/logs").at(0)) == 40);
}

TEST_CASE("the first event is on the disk at once, without a flush and without time passing") {
  Bench b;
  FileWriter writer("logs", b.options());
  writer.scalar("loss", 1, 1);
  until([&] { return b.steps().size() == 1; });
}

TEST_CASE("an event is on the disk when the flush period is over, though no other follows") {
  Bench b;
  FileWriter writer("logs", b.options());
  writer.scalar("loss", 1, 1);
  writer.flush();
  writer.scalar("loss", 1, 2);
  until([&] { return b.clock.waiting() == 1; });  // the thread has the event and waits for the period to end
  b.clock.advance(119);
  CHECK(b.steps() == std::vector<std::int64_t>{1});
  b.clock.advance(2);
  until([&] { return b.steps().size() == 2; });
}

TEST_CASE("what was added to a synced writer before flush returns survives a power cut") {
  Bench b;
  FileWriter writer("logs", b.synced());
  for (int step = 0; step < 100; ++step) writer.scalar("loss", step, step);
  writer.flush();
  b.files.reboot(PowerCut::kLosesAllUnsynced);
  CHECK(b.steps().size() == 100);
}

TEST_CASE("what a synced writer wrote by itself survives a power cut when the flush period is over") {
  Bench b;
  FileWriterOptions options = b.synced();
  options.max_queue = 2;
  FileWriter writer("logs", options);
  writer.scalar("loss", 1, 1);
  writer.flush();
  for (int step = 2; step < 4; ++step) writer.scalar("loss", 1, step);
  until([&] { return b.clock.waiting() == 1; });
  b.clock.advance(1);  // written, for there are two
  until([&] { return b.steps().size() == 3 && b.clock.waiting() == 1; });
  b.clock.advance(121);
  until([&] {
    MemoryFileSystem after;
    after.boot(b.files.crash_states().at(0));
    return steps_in(after, "logs").size() == 3;
  });
}

TEST_CASE("as many events as max_queue are in the file soon, fewer are not") {
  Bench b;
  FileWriter writer("logs", b.options());
  writer.scalar("loss", 1, 0);
  writer.flush();
  for (int step = 1; step < 10; ++step) writer.scalar("loss", 1, step);
  until([&] { return b.clock.waiting() == 1; });
  b.clock.advance(1);
  CHECK(b.steps().size() == 1);
  writer.scalar("loss", 1, 10);
  until([&] { return b.steps().size() == 11; });
}

TEST_CASE("much is written before the flush period is over") {
  Bench b;
  FileWriter writer("logs", b.options());
  writer.scalar("loss", 1, 1);
  writer.flush();
  writer.scalar(std::string(2 << 20, 't'), 1, 2);
  until([&] { return b.steps().size() == 2; });
}

TEST_CASE("with a step to go on from, START comes before the graph, twice, and only in the first file") {
  Bench b;
  FileWriter writer("logs", b.going_on_at(101));
  writer.add_graph_def("");  // of no nodes
  writer.close();
  writer.reopen();
  writer.scalar("loss", 1, 102);
  writer.close();
  const auto events = events_in(b.files, "logs");
  REQUIRE(events.size() == 4);
  for (int i = 0; i < 2; ++i) {  // TensorBoard takes no notice of the first START of a run
    CHECK(events[i].session_log().status() == pb::SessionLog::START);
    CHECK(events[i].step() == 101);
  }
  CHECK(events[2].has_graph_def());
  CHECK(events[3].step() == 102);
}

TEST_CASE("a writer of a graph begins with it, with shapes, and with its collections") {
  Bench b;
  Graph g;
  summary::scalar("loss", constant(g, Tensor::scalar(1.0f), {}));
  FileWriter writer("logs", g, b.going_on_at(3));
  writer.close();
  const auto events = events_in(b.files, "logs");
  REQUIRE(events.size() == 4);
  pb::GraphDef graph;
  REQUIRE(graph.ParseFromString(events[2].graph_def()));
  CHECK(graph.node_size() == 3);
  CHECK(graph.node(0).attr().contains("_output_shapes"));
  pb::MetaGraphDef meta;
  REQUIRE(meta.ParseFromString(events[3].meta_graph_def()));
  CHECK(meta.collection_def().contains("summaries"));
  CHECK(events[3].step() == 0);
}

TEST_CASE("adding after close throws until the writer is opened again, into a new file") {
  Bench b;
  FileWriter writer("logs", b.options());
  writer.close();
  writer.close();
  CHECK_THROWS_WITH_AS(writer.scalar("loss", 1, 1),
                       "the event writer is closed; call reopen() before adding events", FailedPrecondition);
  CHECK_NOTHROW(writer.flush());
  writer.reopen();
  writer.reopen();
  writer.scalar("loss", 1, 2);
  writer.close();
  CHECK(b.files.list("logs").size() == 2);
  CHECK(b.steps() == std::vector<std::int64_t>{2});
}

TEST_CASE("a writer whose thread cannot be started says so and leaves all as it was") {
  Bench b;
  FileWriter writer("logs", b.options());
  writer.close();
  {
    const NoThreads none;
    CHECK_THROWS_AS(FileWriter("other", b.options()), ResourceExhausted);
    CHECK_THROWS_AS(writer.reopen(), ResourceExhausted);
  }
  CHECK_THROWS_AS(writer.scalar("loss", 1, 1), FailedPrecondition);
  writer.reopen();
  writer.scalar("loss", 1, 1);
  writer.close();
  CHECK(b.steps() == std::vector<std::int64_t>{1});
}

TEST_CASE("a writer that goes out of scope leaves nothing behind") {
  Bench b;
  {
    FileWriter writer("logs", b.options());
    writer.scalar("loss", 1, 1);
    FileWriter moved = std::move(writer);
    moved.scalar("loss", 1, 2);
  }
  CHECK(b.steps() == std::vector<std::int64_t>{1, 2});
}

TEST_CASE("how a tag is to be shown is said once a file") {
  Bench b;
  FileWriter writer("logs", b.options());
  for (int i = 0; i < 2; ++i) {
    writer.add_summary(summary_with_metadata("a"), 1);
    writer.add_summary(Tensor::scalar(summary_with_metadata("b")), 1);
    writer.add_summary(summary_with_metadata("a"), 2);
    writer.close();
    writer.reopen();
  }
  std::vector<bool> said;
  for (const pb::Event& event : events_in(b.files, "logs"))
    said.push_back(event.summary().value(0).has_metadata());
  CHECK(said == std::vector<bool>{true, true, false, true, true, false});
}

TEST_CASE("NaN in a histogram is left out and logged once a tag") {
  Bench b;
  std::vector<std::string> lines;
  const ScopedLogSink sink([&](LogLevel, const std::string& line) { lines.push_back(line); });
  FileWriter writer("logs", b.options());
  const std::vector<float> values = {1, 2, NAN, INFINITY, -INFINITY};
  for (int step = 0; step < 3; ++step) writer.histogram("w", std::span<const float>(values), step);
  writer.close();
  REQUIRE(lines.size() == 1);
  CHECK(lines[0] == "histogram 'w' at step 0: 1 NaN, 1 +Inf, 1 -Inf left out; this is said once a tag");
  const auto events = events_in(b.files, "logs");
  REQUIRE(events.size() == 3);
  CHECK(events[2].summary().value(0).histo().num() == 2);
  CHECK(events[2].summary().value(0).histo().sum_squares() == 5);
}

TEST_CASE("a strict histogram refuses NaN with tag, step and counts") {
  Bench b;
  FileWriter writer("logs", b.options());
  const std::vector<double> values = {1, NAN};
  CHECK_THROWS_WITH_AS(writer.histogram("w", std::span<const double>(values), 3, {.strict = true}),
                       "histogram 'w' at step 3: 1 NaN, 0 +Inf, 0 -Inf", InvalidArgument);
}

TEST_CASE("bytes that are no message are refused where they are added") {
  Bench b;
  FileWriter writer("logs", b.options());
  CHECK_THROWS_AS(writer.add_summary(std::string("\xff\xff")), InvalidArgument);
  CHECK_THROWS_WITH_AS(writer.add_summary(Tensor::scalar(1.0f)),
                       "add_summary takes what a summary op gives, a string scalar; this is float[]: fetch "
                       "merge_all() or a summary op",
                       InvalidArgument);
  CHECK_THROWS_AS(writer.add_event("\xff"), InvalidArgument);
  CHECK_THROWS_AS(writer.add_graph_def("\xff"), InvalidArgument);
  CHECK_THROWS_AS(writer.add_meta_graph("\xff"), InvalidArgument);
  writer.close();
  CHECK(b.steps().empty());
}

TEST_CASE("options that make no sense are refused by name") {
  Bench b;
  CHECK_THROWS_AS(FileWriter("", b.options()), InvalidArgument);
  CHECK_THROWS_AS(FileWriter("logs", {.max_queue = 0, .files = &b.files}), InvalidArgument);
  CHECK_THROWS_AS(FileWriter("logs", {.flush_secs = NAN, .files = &b.files}), InvalidArgument);
  CHECK_THROWS_AS(FileWriter("logs", {.filename_suffix = "/x", .files = &b.files}), InvalidArgument);
}

TEST_CASE("session logs and given events arrive as they are") {
  Bench b;
  FileWriter writer("logs", b.options());
  writer.add_session_log(SessionStatus::kCheckpoint, 5, "model.ckpt-5");
  pb::Event given;
  given.set_wall_time(1.5);
  given.set_step(-1);
  writer.add_event(given.SerializeAsString());
  writer.close();
  const auto events = events_in(b.files, "logs");
  REQUIRE(events.size() == 2);
  CHECK(events[0].session_log().status() == pb::SessionLog::CHECKPOINT);
  CHECK(events[0].session_log().checkpoint_path() == "model.ckpt-5");
  CHECK(events[1].SerializeAsString() == given.SerializeAsString());
}

TEST_CASE("many threads lose nothing, and each one's events keep their order") {
  Bench b;
  FileWriter writer("logs", b.options());
  std::vector<std::jthread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (int step = 0; step < 200; ++step) {
        writer.scalar(std::to_string(t), step, step);
        if (step % 50 == 0) writer.flush();
      }
    });
  for (std::jthread& thread : threads) thread.join();
  writer.close();
  std::map<std::string, std::int64_t> next;
  for (const pb::Event& event : events_in(b.files, "logs"))
    CHECK(next[event.summary().value(0).tag()]++ == event.step());
  CHECK(next.size() == 8);
  for (const auto& [tag, count] : next) CHECK(count == 200);
}

TEST_CASE("run metadata becomes one event with its tag, and a tag is taken once, after reopening too") {
  Bench b;
  FileWriter writer("logs", b.options());
  RunMetadata metadata;
  metadata.devices.push_back({.device = "cpu", .nodes = {{.name = "a", .op = "Add"}}});
  writer.add_run_metadata(metadata, "step 7", 7);
  CHECK_THROWS_WITH_AS(
      writer.add_run_metadata(metadata, "step 7", 8),
      "add_run_metadata: the tag 'step 7' is that of an earlier run; give each run one of its own, "
      "as 'step 8'",
      InvalidArgument);
  writer.close();
  CHECK_THROWS_AS(writer.add_run_metadata(metadata, "step 9", 9), FailedPrecondition);
  writer.reopen();
  CHECK_THROWS_AS(writer.add_run_metadata(metadata, "step 7", 9), InvalidArgument);
  writer.add_run_metadata(metadata, "step 9", 9);
  writer.close();
  const auto events = events_in(b.files, "logs");
  REQUIRE(events.size() == 2);
  CHECK(events[0].step() == 7);
  CHECK(events[0].tagged_run_metadata().tag() == "step 7");
  CHECK(events[0].tagged_run_metadata().run_metadata() == metadata.serialize());
  CHECK(events[1].tagged_run_metadata().tag() == "step 9");
}
