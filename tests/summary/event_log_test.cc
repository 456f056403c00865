// Directories of event files: which runs there are, what restarts make void, and what comes, grows, vanishes
// and breaks while they are followed.
#include "summary/events/event_log.h"

#include <doctest/doctest.h>

#include "tests/graph/scratch_directory.h"
#include "tests/summary/event_file_bytes.h"

using namespace runnel;

namespace {

std::vector<std::int64_t> steps_of(const EventRun& run, const std::string& tag = "a") {
  std::vector<std::int64_t> out;
  const auto found = run.tags().find(tag);
  if (found != run.tags().end())
    for (const EventPoint& point : found->second.points) out.push_back(point.at.step);
  return out;
}

EventRun read_run(FileSystem& files, const std::vector<std::string>& paths, Restarts restarts) {
  EventRun run(".", {.restarts = restarts, .files = &files});
  run.reload(paths);
  return run;
}

using Steps = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("every folder with event files is a run, called by its path") {
  MemoryFileSystem files;
  for (const char* path : {"logs/events.out.tfevents.1.h", "logs/train/x.tfevents", "logs/train/a.tfevents.9",
                           "logs/deep/er/tfevents", "logs/none/events.out", "logs/p/tfevents.profile-empty"})
    put(files, path, curve({1}));
  const auto found = event_files("logs", files);
  CHECK(found.size() == 3);
  CHECK(found.at(".") == std::vector<std::string>{"logs/events.out.tfevents.1.h"});
  CHECK(found.at("train") == std::vector<std::string>{"logs/train/a.tfevents.9", "logs/train/x.tfevents"});
  CHECK(found.count("deep/er") == 1);
  CHECK(event_files("nowhere", files).empty());
}

TEST_CASE("links are followed, but not in circles") {
  const ScratchDirectory scratch;
  put(real_file_system(), scratch / "logs/f.tfevents", curve({1}));
  put(real_file_system(), scratch / "far/g.tfevents", curve({1}));
  for (const char* name : {"a", "b"})
    std::filesystem::create_directory_symlink(scratch / "logs", scratch / "logs/" + name);
  std::filesystem::create_directory_symlink(scratch / "far", scratch / "logs/far");
  const auto found = event_files(scratch / "logs");
  CHECK(found.size() == 2);
  CHECK(found.at("far").size() == 1);
}

TEST_CASE("the files of a run are read in the order of their names") {
  MemoryFileSystem files;
  put(files, "l/2.tfevents", curve({3, 4}));
  put(files, "l/1.tfevents", curve({1, 2}));
  EventLog log("l", {.files = &files});
  log.reload();
  CHECK(steps_of(log.runs().at(".")) == Steps{1, 2, 3, 4});
}

TEST_CASE("one file may be given instead of a directory") {
  MemoryFileSystem files;
  put(files, "l/any name", curve({1, 2}));
  EventLog log("l/any name", {.files = &files});
  log.reload();
  CHECK(steps_of(log.runs().at(".")) == Steps{1, 2});
}

TEST_CASE("a step voids what its tag has from there on, as the data server does it") {
  MemoryFileSystem files;
  put(files, "l/1", curve({0, 1, 2, 3}) + scalar_record("b", 0, 9));
  put(files, "l/2", curve({2, 2, 5}));
  const EventRun run = read_run(files, {"l/1", "l/2"}, Restarts::kBySteps);
  CHECK(steps_of(run) == Steps{0, 1, 2, 5});
  CHECK(run.tags().at("a").points[2].file == 1);
  CHECK(run.tags().at("a").written == 7);
  CHECK(steps_of(run, "b") == Steps{9});
}

TEST_CASE("the second START voids what all tags have from its step on, as TensorBoard's Python does it") {
  MemoryFileSystem files;
  put(files, "l/1", version_record() + start_record(0) + curve({0, 1, 2, 3}) + scalar_record("b", 0, 9));
  put(files, "l/2", version_record() + start_record(2) + curve({7, 2}));
  CHECK(steps_of(read_run(files, {"l/1", "l/2"}, Restarts::kBySessionLog)) == Steps{0, 1, 7, 2});
  CHECK(steps_of(read_run(files, {"l/1", "l/2"}, Restarts::kBySessionLog), "b").empty());
}

TEST_CASE("the first START of a run voids nothing, as nothing went on there") {
  MemoryFileSystem files;
  put(files, "l/1", curve({4, 5}) + start_record(2) + scalar_record("a", 0, 6));
  CHECK(steps_of(read_run(files, {"l/1"}, Restarts::kBySessionLog)) == Steps{4, 5, 6});
}

TEST_CASE("without a version a step that is not lower than the summary's before voids nothing") {
  MemoryFileSystem files;
  put(files, "l/1",
      scalar_record("a", 0, 5) + scalar_record("a", 1, 5) + scalar_record("b", 0, 2) +
          scalar_record("a", 2, 4));
  CHECK(steps_of(read_run(files, {"l/1"}, Restarts::kBySessionLog)) == Steps{5, 5, 4});
}

TEST_CASE("without a version a lower step voids the later points of the tags it has") {
  MemoryFileSystem files;
  put(files, "l/1", scalar_record("a", 0, 1) + scalar_record("a", 0, 5) + scalar_record("b", 0, 6));
  put(files, "l/2", start_record(0) + start_record(0) + scalar_record("a", 0, 3));
  const EventRun run = read_run(files, {"l/1", "l/2"}, Restarts::kBySessionLog);
  CHECK(steps_of(run) == Steps{1, 3});
  CHECK(steps_of(run, "b") == Steps{6});
}

TEST_CASE("all points are kept where nothing is to be void") {
  MemoryFileSystem files;
  put(files, "l/1", version_record() + start_record(0) + curve({0, 5}) + start_record(3) + curve({3, 3}));
  CHECK(steps_of(read_run(files, {"l/1"}, Restarts::kKept)) == Steps{0, 5, 3, 3});
}

TEST_CASE("the first value of a tag says by what it is shown") {
  const auto text = [](const char* plugin) {
    return value_record([plugin](pb::Summary::Value& v) {
      v.set_tag("t");
      v.mutable_tensor()->set_dtype(pb::DT_STRING);
      v.mutable_tensor()->add_string_val("words");
      if (*plugin) v.mutable_metadata()->mutable_plugin_data()->set_plugin_name(plugin);
    });
  };
  MemoryFileSystem files;
  put(files, "l/1", text("text") + text(""));
  put(files, "l/2", text("") + text("text"));
  put(files, "l/3", text("mine"));
  CHECK(read_run(files, {"l/1"}, Restarts::kKept).tags().at("t").is_shown());
  CHECK_FALSE(read_run(files, {"l/2"}, Restarts::kKept).tags().at("t").is_shown());
  CHECK(read_run(files, {"l/2"}, Restarts::kBySessionLog).tags().at("t").is_shown());
  CHECK_FALSE(read_run(files, {"l/3"}, Restarts::kKept).tags().at("t").is_shown());
}

TEST_CASE("a point's value is read again from its place") {
  MemoryFileSystem files;
  pb::Event two;
  for (const char* tag : {"x", "y"}) {
    two.mutable_summary()->add_value()->set_tag(tag);
    two.mutable_summary()->mutable_value()->rbegin()->mutable_image()->set_encoded_image_string(tag);
  }
  put(files, "l/1", curve({1, 2}) + record_of(two));
  const EventRun run = read_run(files, {"l/1"}, Restarts::kKept);
  CHECK(run.tags().at("a").points[1].number == 2);
  CHECK(run.value(run.tags().at("a").points[1]).tensor == Tensor::scalar(2.0f));
  CHECK(run.value(run.tags().at("y").points[0]).tensor.values<std::string>()[2] == "y");
  CHECK(run.value(run.tags().at("x").points[0]).tensor.values<std::string>()[2] == "x");
}

TEST_CASE("a point whose file was changed is DataLoss, and NotFound if it is gone") {
  MemoryFileSystem files;
  put(files, "l/1", curve({1, 2}));
  const EventRun run = read_run(files, {"l/1"}, Restarts::kKept);
  const EventPoint point = run.tags().at("a").points[1];
  put(files, "l/1", version_record());
  CHECK_THROWS_AS(run.value(point), DataLoss);
  EventRun other = read_run(files, {"l/1"}, Restarts::kKept);
  files.remove("l/1");
  CHECK_THROWS_AS(other.value(point), NotFound);
}

TEST_CASE("reloading reads what has been added, in files that are old and new") {
  MemoryFileSystem files;
  const std::string bytes = curve({1, 2, 3});
  put(files, "l/b.tfevents", bytes.substr(0, bytes.size() - 5));
  EventLog log("l", {.files = &files});
  std::vector<std::string> seen;
  const EventAction note = [&](const std::string& run, const Event& event) {
    if (!event.values.empty()) seen.push_back(cat(run, " ", event.at.step));
  };
  log.reload(note);
  CHECK(seen == std::vector<std::string>{". 1", ". 2"});
  CHECK(log.runs().at(".").files()[0].truncated);
  put(files, "l/b.tfevents", bytes + scalar_record("a", 4, 4));
  put(files, "l/new/a.tfevents", curve({9}));
  seen.clear();
  log.reload(note);
  CHECK(seen == std::vector<std::string>{". 3", ". 4", "new 9"});
  log.reload(note);
  CHECK(seen.size() == 3);
  CHECK(steps_of(log.runs().at(".")) == Steps{1, 2, 3, 4});
}

TEST_CASE("a file that vanishes leaves its points and may come back") {
  MemoryFileSystem files;
  put(files, "l/1.tfevents", curve({1, 2}));
  EventLog log("l", {.files = &files});
  log.reload();
  files.remove("l/1.tfevents");
  log.reload();
  CHECK(log.runs().at(".").files()[0].gone);
  CHECK(steps_of(log.runs().at(".")) == Steps{1, 2});
  put(files, "l/1.tfevents", curve({1, 2, 3}));
  log.reload();
  CHECK(steps_of(log.runs().at(".")) == Steps{1, 2, 3});
}

TEST_CASE("a file that is no longer named as one of the run's is gone, even if it is there") {
  MemoryFileSystem files;
  put(files, "l/1", curve({1}));
  EventRun run = read_run(files, {"l/1"}, Restarts::kKept);
  CHECK_FALSE(run.files()[0].gone);
  run.reload({});
  CHECK(run.files()[0].gone);
  CHECK(steps_of(run) == Steps{1});
}

TEST_CASE("a file that became shorter is damaged where it now ends") {
  MemoryFileSystem files;
  put(files, "l/1.tfevents", curve({1, 2}));
  EventLog log("l", {.files = &files});
  log.reload();
  put(files, "l/1.tfevents", version_record());
  log.reload();
  const EventFileInfo& file = log.runs().at(".").files()[0];
  REQUIRE(file.damage.size() == 1);
  CHECK(file.damage[0].what.find("l/1.tfevents: 40 bytes are left of it") == 0);
}

TEST_CASE("damage ends its file and no other, and is told once") {
  MemoryFileSystem files;
  std::string bytes = curve({1, 2, 3});
  const std::size_t at = version_record().size() + scalar_record("a", 1, 1).size();
  bytes[at + 14] ^= 4;
  put(files, "l/1.tfevents", bytes);
  put(files, "l/2.tfevents", curve({8}));
  EventLog log("l", {.files = &files});
  log.reload();
  log.reload();
  const EventRun& run = log.runs().at(".");
  CHECK(steps_of(run) == Steps{1, 8});
  REQUIRE(run.files()[0].damage.size() == 1);
  CHECK(run.files()[0].damage[0].offset == at);
  CHECK_FALSE(run.files()[0].is_readable());
}

TEST_CASE("a run that skips damage has all other points and the place of the damage") {
  MemoryFileSystem files;
  std::string bytes = curve({1, 2, 3});
  const std::size_t at = version_record().size() + scalar_record("a", 1, 1).size();
  bytes[at + 14] ^= 4;
  put(files, "l/1.tfevents", bytes);
  EventLog log("l", {.skip_damaged = true, .files = &files});
  log.reload();
  const EventRun& run = log.runs().at(".");
  CHECK(steps_of(run) == Steps{1, 3});
  REQUIRE(run.files()[0].damage.size() == 1);
  CHECK(run.files()[0].damage[0].offset == at);
  CHECK(run.files()[0].damage[0].passed_over);
  CHECK(run.files()[0].is_readable());
}

TEST_CASE("a graph and run metadata are values of their own tags") {
  MemoryFileSystem files;
  pb::Event graph, metadata;
  graph.set_graph_def("g");
  metadata.mutable_tagged_run_metadata()->set_tag("step 7");
  metadata.mutable_tagged_run_metadata()->set_run_metadata("m");
  put(files, "l/1", record_of(graph) + record_of(metadata));
  const EventRun run = read_run(files, {"l/1"}, Restarts::kBySteps);
  CHECK(run.tags().at("__run_graph__").about.plugin == "graphs");
  CHECK(run.value(run.tags().at("step 7").points[0]).tensor == Tensor::vector<std::string>({"m"}));
}
