// Which steps are saved, under which names, and how often.
#include "train/monitored/checkpoint_saver_hook.h"

#include <doctest/doctest.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "graph/io/file_system.h"
#include "summary/summary.h"
#include "tests/graph/scratch_directory.h"
#include "tests/graph/stuck_file_system.h"
#include "tests/graph/until.h"
#include "tests/train/monitored/event_lines.h"
#include "tests/train/monitored/hook_driver.h"
#include "tests/train/supervisor/logged_lines.h"
#include "train/monitored/summary_saver_hook.h"
#include "train/supervisor/stop_signals.h"
#include "train/train.h"

using namespace runnel;
using Lines = std::vector<std::string>;

namespace {

// Counting with a saver that keeps all, in a directory of its own.
struct Saved : Counting {
  explicit Saved(bool resource = false) : Counting(resource), saver(graph, {.max_to_keep = 0}) {}
  ~Saved() { FileWriterCache::clear(); }
  CheckpointSaverHookOptions every(std::int64_t steps) { return {.save_steps = steps, .saver = &saver}; }
  Hook hook(CheckpointSaverHookOptions options) {
    return checkpoint_saver(scratch.path(), std::move(options));
  }
  // The steps in the names of the checkpoints, in the order of saving; a name that lies is an error.
  std::vector<std::int64_t> steps() const {
    std::vector<std::int64_t> steps;
    for (const std::string& prefix : saver.last_checkpoints()) {
      const CheckpointReader reader(prefix);
      const auto value = [&](const char* name) { return reader.read(name).scalar<std::int64_t>(); };
      if (value("global_step") != value("twin") || prefix != cat(scratch / "model.ckpt-", value("twin")))
        throw DataLoss(cat(prefix, " holds ", value("twin"), " updates, and step ", value("global_step")));
      steps.push_back(value("twin"));
    }
    return steps;
  }
  std::ptrdiff_t writes() const {
    const Lines lines = log.all();
    return std::count_if(lines.begin(), lines.end(),
                         [](const auto& line) { return line.starts_with("info: Saving checkpoints for "); });
  }
  LoggedLines log;
  ScratchDirectory scratch;
  Saver saver;
};

struct Listener final : CheckpointSaverListener {
  void begin(Graph&) override { calls.push_back("begin"); }
  void before_save(Session&, std::int64_t step) override { calls.push_back(cat("before ", step)); }
  bool after_save(Session&, std::int64_t step) override {
    calls.push_back(cat("after ", step));
    return true;
  }
  void end(Session&, std::int64_t step) override { calls.push_back(cat("end ", step)); }
  Lines calls;
};

}  // namespace

TEST_CASE("seven steps saved every three give checkpoints 0, 3, 6 and 7, of so many updates each") {
  for (const bool resource : {false, true}) {
    CAPTURE(resource);
    Saved m(resource);
    HookDriver driver(m.graph, m.init, {m.hook(m.every(3))});
    driver.run(m.train, 7);
    driver.end();
    CHECK(m.steps() == std::vector<std::int64_t>{0, 3, 6, 7});
  }
}

TEST_CASE("the last step is saved once, also where the period ends with it") {
  for (const int length : {6, 5}) {
    CAPTURE(length);
    Saved m;
    HookDriver driver(m.graph, m.init, {m.hook(m.every(3))});
    driver.run(m.train, length);
    driver.end();
    CHECK(m.steps() == std::vector<std::int64_t>{0, 3, length});
  }
}

TEST_CASE("two hooks that save to one path write each step once, whichever comes first") {
  Saved m;
  ManualClock clock;
  HookDriver driver(
      m.graph, m.init,
      {m.hook(m.every(2)), m.hook({.save_secs = 1, .saver = &m.saver, .clock = &clock}), m.hook(m.every(3))});
  driver.run(m.train, 5);
  clock.advance(1);
  driver.run(m.train, 2);
  driver.end();
  CHECK(m.steps() == std::vector<std::int64_t>{0, 2, 3, 4, 6, 7});
  CHECK(m.writes() == 6);
}

TEST_CASE("seconds and steps together save at whichever comes first") {
  Saved m;
  ManualClock clock;
  HookDriver driver(m.graph, m.init,
                    {m.hook({.save_secs = 60, .save_steps = 4, .saver = &m.saver, .clock = &clock})});
  driver.run(m.train, 5);
  clock.advance(60);
  driver.run(m.train, 2);
  CHECK(m.steps() == std::vector<std::int64_t>{0, 4, 6});
}

TEST_CASE("the log has START, the graph once, and CHECKPOINT at each save") {
  Saved m;
  HookDriver driver(m.graph, m.init, {m.hook(m.every(2)), m.hook(m.every(2))});
  driver.run(m.train, 3);
  driver.end();
  CHECK(event_lines(m.scratch.path()) ==
        Lines{"version", "START 1", "graph", "meta graph", "CHECKPOINT 0", "CHECKPOINT 2", "CHECKPOINT 3"});
}

TEST_CASE("what hooks have logged elsewhere is in the file when a checkpoint is written") {
  Saved m;
  const ScratchDirectory elsewhere;
  const auto writer = std::make_shared<FileWriter>(elsewhere.path());
  const Output summary = summary::scalar("loss", m.loss);
  HookDriver driver(m.graph, m.init,
                    {summary_saver({.save_steps = 1, .summary_writer = writer, .summary_op = {summary}}),
                     m.hook(m.every(3))});
  driver.run(m.train, 3);
  CHECK(event_lines(elsewhere.path()) == Lines{"version", "START 1", "loss 1", "loss 2", "loss 3"});
}

TEST_CASE(
    "after a signal the step is saved though the disk of the logs hangs, and these are written at the end") {
  Saved m;
  const ScratchDirectory elsewhere;
  StuckFileSystem files(real_file_system());
  const auto writer = std::make_shared<FileWriter>(elsewhere.path(), FileWriterOptions{.files = &files});
  const Output summary = summary::scalar("loss", m.loss);
  HookDriver driver(m.graph, m.init,
                    {summary_saver({.save_steps = 1, .summary_writer = writer, .summary_op = {summary}}),
                     m.hook(m.every(3))});
  files.hang();
  Coordinator coord;
  const StopSignals signals(coord);
  ::raise(SIGTERM);
  driver.run(m.train, 3);
  CHECK(m.steps().back() == 3);
  CHECK_FALSE(m.log.has("warning: "));  // of a log that was waited for
  files.go_on();
  driver.end();
  CHECK(event_lines(elsewhere.path()) == Lines{"version", "START 1", "loss 1", "loss 2", "loss 3"});
  coord.wait_for_stop();
}

TEST_CASE("a disk of logs that hangs is a warning at a save, and the step is saved") {
  const ScratchDirectory elsewhere;
  StuckFileSystem files(real_file_system());
  {
    Saved m;
    const auto writer = std::make_shared<FileWriter>(
        elsewhere.path(), FileWriterOptions{.patience_secs = 0.01, .files = &files});
    const Output summary = summary::scalar("loss", m.loss);
    HookDriver driver(m.graph, m.init,
                      {summary_saver({.save_steps = 1, .summary_writer = writer, .summary_op = {summary}}),
                       m.hook(m.every(3))});
    files.hang();
    driver.run(m.train, 3);
    CHECK(m.steps().back() == 3);
    CHECK(m.log.has(cat("warning: events in '", elsewhere.path(), "' are not written: the disk has taken")));
    files.go_on();
  }
  until([&] { return files.open_files() == 0; });  // the writer's thread may have been left behind
}

TEST_CASE("graph.pbtxt and a .meta beside each checkpoint are written unless refused") {
  for (const bool wanted : {true, false}) {
    CAPTURE(wanted);
    Saved m;
    HookDriver driver(m.graph, m.init,
                      {m.hook({.save_steps = 1, .saver = &m.saver, .save_graph_def = wanted})});
    CHECK(std::filesystem::exists(m.scratch / "graph.pbtxt") == wanted);
    CHECK(std::filesystem::exists(m.scratch / "model.ckpt-0.meta") == wanted);
    if (!wanted) continue;
    Graph again;
    again.import_graph_def(read_file(real_file_system(), m.scratch / "graph.pbtxt"));
    CHECK(again.size() == m.graph.size());
  }
}

TEST_CASE("a graph.pbtxt that cannot be written is a warning, and the steps are saved") {
  Saved m;
  std::filesystem::create_directories(m.scratch / "graph.pbtxt/in the way");
  HookDriver driver(m.graph, m.init, {m.hook(m.every(1))});
  driver.run(m.train, 1);
  CHECK(m.log.has("warning: graph.pbtxt is not written, training goes on: "));
  CHECK(m.steps() == std::vector<std::int64_t>{0, 1});
}

TEST_CASE("listeners are called around each save, and one may ask for the end but not at the first") {
  Saved m;
  const auto listener = std::make_shared<Listener>();
  HookDriver driver(m.graph, m.init, {m.hook({.save_steps = 2, .saver = &m.saver, .listeners = {listener}})});
  driver.run(m.train, 1);
  CHECK_FALSE(driver.stop);
  driver.run(m.train, 2);
  REQUIRE(driver.stop);
  CHECK(driver.stop->why == "a CheckpointSaverListener asked for it");
  driver.end();
  CHECK(listener->calls ==
        Lines{"begin", "before 0", "after 0", "before 2", "after 2", "before 3", "after 3", "end 3"});
}

TEST_CASE("a listener of a hook that finds the step saved is called all the same") {
  Saved m;
  const auto listener = std::make_shared<Listener>();
  HookDriver driver(
      m.graph, m.init,
      {m.hook(m.every(2)), m.hook({.save_steps = 2, .saver = &m.saver, .listeners = {listener}})});
  driver.run(m.train, 2);
  CHECK(listener->calls == Lines{"begin", "before 0", "after 0", "before 2", "after 2"});
}

TEST_CASE("a listener hears of the last step, also where another hook has saved it") {
  Saved m;
  const auto listener = std::make_shared<Listener>();
  HookDriver driver(
      m.graph, m.init,
      {m.hook(m.every(2)), m.hook({.save_steps = 100, .saver = &m.saver, .listeners = {listener}})});
  driver.run(m.train, 2);
  driver.end();
  CHECK(listener->calls == Lines{"begin", "before 0", "after 0", "before 2", "after 2", "end 2"});
  CHECK(m.writes() == 2);
}

TEST_CASE("a session that is made anew saves where it begins") {
  Saved m;
  HookDriver driver(m.graph, m.init, {m.hook(m.every(10))});
  driver.run(m.train, 3);
  driver.open(2, m.train);
  driver.run(m.train, 1);
  CHECK(m.steps() == std::vector<std::int64_t>{0, 2});
}

TEST_CASE("names, values and what listeners hear agree while another thread trains") {
  Saved m;
  const auto listener = std::make_shared<Listener>();
  HookDriver driver(m.graph, m.init, {m.hook({.save_steps = 1, .saver = &m.saver, .listeners = {listener}})});
  std::jthread other([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) driver.session->run(m.train);
  });
  driver.run(m.train, 8);
  other.request_stop();
  other.join();
  driver.end();
  CHECK(m.steps().size() >= 8);
  Lines after;
  for (const std::int64_t step : m.steps()) after.push_back(cat("after ", step));
  std::erase_if(listener->calls, [](const auto& call) { return !call.starts_with("after"); });
  CHECK(listener->calls == after);
}

TEST_CASE("the saver of the collection is used by all hooks that name none") {
  Saved m;
  m.graph.add_to_collection(keys::kSavers, m.saver.saver_def());
  HookDriver driver(m.graph, m.init, {m.hook(m.every(2)), m.hook({.save_steps = 3})});
  driver.run(m.train, 4);
  CHECK(m.steps() == std::vector<std::int64_t>{0, 2, 3, 4});
}

TEST_CASE("a hook finds the saver of each graph that it is used with") {
  const ScratchDirectory scratch;
  const Hook hook = checkpoint_saver(scratch.path(), {.save_steps = 10});
  for (int updates = 1; updates <= 2; ++updates) {
    Saved m;
    m.graph.add_to_collection(keys::kSavers, m.saver.saver_def());
    HookDriver driver(m.graph, m.init, {hook});
    driver.run(m.train, updates);
    driver.end();
    CHECK(std::filesystem::exists(scratch / cat("model.ckpt-", updates, ".index")));
  }
}

TEST_CASE("a path as checkpoint_basename is refused: no start would look there") {
  CHECK_THROWS_WITH_AS(checkpoint_saver("dir", {.save_steps = 1, .checkpoint_basename = "a/b"}),
                       doctest::Contains("'a/b', a path"), InvalidArgument);
}

TEST_CASE("hooks that cannot save say what to give them") {
  Saved m;
  CHECK_THROWS_WITH_AS(checkpoint_saver("", {.save_steps = 1}),
                       "CheckpointSaverHook has no directory to save to: give checkpoint_dir",
                       InvalidArgument);
  CHECK_THROWS_AS(m.hook({.save_steps = 1, .saver = &m.saver, .scaffold = Scaffold()}), InvalidArgument);
  CHECK_THROWS_WITH_AS(m.hook({.save_steps = 1, .listeners = {nullptr}}),
                       "CheckpointSaverHook: a listener is null; leave it out", InvalidArgument);
  CHECK_THROWS_AS(CheckpointSaverHook("dir", {.save_steps = 1}).add_listener(nullptr), InvalidArgument);
  CHECK_THROWS_WITH_AS(
      m.hook({}), "CheckpointSaverHook needs a period: give seconds, steps, or both (whichever comes first)",
      InvalidArgument);
  CHECK_THROWS_WITH_AS(
      HookDriver(m.graph, m.init, {m.hook({.save_steps = 1})}),
      "CheckpointSaverHook has nothing to save with: give it a saver or a scaffold, or add a "
      "SaverDef to the graph's collection savers",
      FailedPrecondition);
  for (int i = 0; i < 2; ++i) m.graph.add_to_collection(keys::kSavers, m.saver.saver_def());
  CHECK_THROWS_WITH_AS(HookDriver(m.graph, m.init, {m.hook({.save_steps = 1})}),
                       "CheckpointSaverHook cannot choose among the 2 savers of the graph's collection "
                       "savers: give it one as .saver",
                       FailedPrecondition);
}
