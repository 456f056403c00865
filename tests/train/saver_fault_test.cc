// Whole saves of every kind that fail, are killed or lose power at every single file operation: what the
// state file names can always be restored, old or new, in every state in which the disk may come back, and
// the next save leaves nothing behind.
#include <doctest/doctest.h>

#include <optional>
#include <set>
#include <string>
#include <utility>

#include "graph/graph.h"
#include "graph/log.h"
#include "ops/ops.h"
#include "tests/fuzz/mutate.h"
#include "tests/train/faulty_disk.h"
#include "train/train.h"

using namespace runnel;

namespace {

constexpr int kNew = 3;  // what the save that is hit saves; those before are 1 and 2

// The power is cut again while the next save puts things right: after every first cut, at each operation of a
// plain save; of a sharded one, where these are 79,000, at two chosen at random, one of them early, since
// what is left is removed first.
constexpr int kEarly = 25;

struct Kind {
  std::string name;
  int before;  // saves that came before
  bool steps;  // each goes to a prefix of its own
  bool sharded = false, async = false;
};
const Kind kKinds[] = {
    {"first", 0, true},
    {"later, the oldest goes", 2, true},
    {"over the same prefix", 2, false},
    {"sharded, first", 0, true, true},
    {"sharded, later, the oldest goes", 2, true, true},
    {"sharded, over the same prefix", 2, false, true},
    {"asynchronous, first", 0, true, false, true},
    {"asynchronous, later, the oldest goes", 2, true, false, true},
    {"asynchronous, over the same prefix", 2, false, false, true},
    {"asynchronous, sharded, first", 0, true, true, true},
    {"asynchronous, sharded, later, the oldest goes", 2, true, true, true},
    {"asynchronous, sharded, over the same prefix", 2, false, true, true},
};

// A program that saves and restores. It may be started many times; graph and session stay, so that plans are
// made once.
struct Program {
  Program(FileSystem& f, const Kind& k) : files(f), kind(k), session(g, {.file_system = &f}) {
    v = variable(g, 0, "v");
    const DeviceScope elsewhere(g, "/cpu:1");
    twin = variable(g, Tensor::vector<int>({0, 0}), "twin");
    value = placeholder<int>(g, Shape{}, "value");
    set = {assign(v, value), assign(twin, value + Tensor::vector<int>({0, 0}))};
    nodes = Saver(g, SaverOptions{.sharded = k.sharded, .max_to_keep = 2}).saver_def();
  }
  void start() { saver.emplace(Saver::from_saver_def(g, nodes)); }
  void save(int number) {
    for (const Output& one : set) session.run(one, {{value, Tensor::scalar(number)}});
    SaveOptions options;
    if (kind.steps) options.global_step = number;
    if (!kind.async) {
      saver->save(session, "d/m", options);
      return;
    }
    saver->save_async(session, "d/m", options);
    saver->wait();
  }
  // The number that the checkpoint holds; -1 if it is mixed.
  int load(const std::string& prefix) {
    saver->restore(session, prefix);
    const int number = session.get<int>(v);
    return session.run(twin) == Tensor::vector<int>({number, number}) ? number : -1;
  }
  // What the newest checkpoint holds; 0 if there is none. All that the state file names must be whole.
  int load_newest() {
    const auto state = get_checkpoint_state("d", {.file_system = &files});
    if (!state) return 0;
    for (const std::string& prefix : state->all_model_checkpoint_paths) {
      const int number = load(prefix);
      if (kind.steps) CHECK(prefix == cat("d/m-", number));
    }
    return load(latest_checkpoint("d", {.file_system = &files}));
  }

  FileSystem& files;
  const Kind& kind;
  Graph g;
  Variable v, twin;
  Output value;
  Outputs set;
  Session session;
  std::string nodes;
  std::optional<Saver> saver;
};

// A disk and the programs before and after the fault.
struct Trial {
  explicit Trial(const Kind& kind) : writer(disk.files, kind), reader(disk.memory, kind) {
    writer.start();
    for (int number = 1; number <= kind.before; ++number) writer.save(number);
    disk.memory.sync_directory("d");
    old = disk.memory.crash_states().front();
  }
  // The old disk, and a program that goes on from it; then a save whose nth operation is hit.
  FaultyDisk::Outcome save(int nth, Fault fault) { return save(nth, fault, writer.kind.before, kNew); }
  FaultyDisk::Outcome save(int nth, Fault fault, int newest, int next) {
    disk.memory.boot(old);
    writer.start();
    CHECK(writer.load_newest() == newest);
    return disk.with_fault(nth, fault, [&] { writer.save(next); });
  }
  // Every state that is left when the save is stopped at any operation, as another process sees it, and
  // whether the save was done.
  std::set<std::pair<DiskContents, bool>> crash_states() {
    std::set<std::pair<DiskContents, bool>> found;
    for (int nth = 1;; ++nth) {
      const FaultyDisk::Outcome outcome = save(nth, Fault::kStop);
      for (const DiskContents& left : disk.memory.crash_states())
        found.emplace(FaultyDisk::disowned(left), outcome.done);
      if (outcome.finished) break;
    }
    return found;
  }
  // A save after the power cut that left `first` is stopped at its nth operation: whatever the disk then
  // comes back with is old or new, and the next save puts it right. False if the save was done before.
  bool cut_again(const DiskContents& first, int nth) {
    CAPTURE(nth);
    old = first;
    const int before = newest_of(first);
    const FaultyDisk::Outcome outcome = save(nth, Fault::kStop, before, kNew + 1);
    for (const DiskContents& left : disk.memory.crash_states()) {
      const DiskContents state = FaultyDisk::disowned(left);
      if (!seen_.emplace(state, outcome.done ? -1 : before).second) continue;
      const int number = newest_of(state);
      CHECK((number == kNew + 1 || (number == before && !outcome.done)));
      reader.save(kNew + 2);
      CHECK(reader.load_newest() == kNew + 2);
      check_clean();
    }
    return !outcome.finished;
  }
  // How many operations a save takes after that power cut.
  int operations_after(const DiskContents& first) {
    old = first;
    return save(1 << 20, Fault::kStop, newest_of(first), kNew + 1).operations;
  }
  // No temporaries, no folders of parts, no half of the checkpoint that was hit.
  void check_clean() {
    bool index = false, data = false;
    const std::string hit = writer.kind.steps ? cat("d/m-", kNew, ".") : "d/m.";
    for (const auto& file : disk.memory.contents()) {
      const std::string& path = file.first;
      CAPTURE(path);
      CHECK(target_of_temporary(path).empty());
      index |= path == hit + "index";
      data |= path.starts_with(hit + "data-");
    }
    CHECK(index == data);
    for (const std::string& name : disk.memory.list("d")) CHECK(!name.ends_with("_temp"));
  }
  FaultyDisk disk;
  Program writer, reader;
  DiskContents old;

 private:
  // What a new process finds on this disk.
  int newest_of(const DiskContents& contents) {
    disk.memory.boot(contents);
    reader.start();
    return reader.load_newest();
  }

  std::set<std::pair<DiskContents, int>> seen_;  // after a second power cut, with what may be found
};

}  // namespace

TEST_CASE("a save of any kind that fails at any operation leaves old or new, and the next one works") {
  const ScopedLogSink quiet([](LogLevel, const std::string&) {});  // what could not be deleted is warned of
  for (const Kind& kind : kKinds) {
    CAPTURE(kind.name);
    Trial trial(kind);
    const auto before = trial.disk.memory.contents();
    for (const Fault fault : kFailures)
      for (int nth = 1;; ++nth) {
        CAPTURE(nth);
        const FaultyDisk::Outcome save = trial.save(nth, fault);
        trial.reader.start();
        const int number = trial.reader.load_newest();
        CHECK((number == kNew || (number == kind.before && !save.done)));
        if (kind.steps && number == kind.before) CHECK(trial.disk.memory.contents() == before);
        trial.writer.save(kNew + 1);
        CHECK(trial.reader.load_newest() == kNew + 1);
        trial.check_clean();
        if (save.finished) break;
      }
  }
}

TEST_CASE(
    "a save of any kind that is killed or loses power at any operation leaves old or new, then no trace") {
  const ScopedLogSink quiet([](LogLevel, const std::string&) {});
  for (const Kind& kind : kKinds) {
    CAPTURE(kind.name);
    Trial trial(kind);
    const auto states = trial.crash_states();
    for (const auto& [state, done] : states) {
      trial.disk.memory.boot(state);
      trial.reader.start();
      const int number = trial.reader.load_newest();
      CHECK((number == kNew || (number == kind.before && !done)));
      trial.reader.save(kNew + 1);
      CHECK(trial.reader.load_newest() == kNew + 1);
      trial.check_clean();
    }
  }
}

TEST_CASE("a save that loses power while it puts such a save right leaves old or new, then no trace") {
  const ScopedLogSink quiet([](LogLevel, const std::string&) {});
  for (const Kind& kind : kKinds) {
    if (kind.async) continue;  // the same operations
    CAPTURE(kind.name);
    Trial trial(kind);
    const auto firsts = trial.crash_states();
    const int most = trial.operations_after(firsts.begin()->first);
    Dice dice(1);
    for (const auto& first : firsts) {
      if (kind.sharded)
        for (const int reach : {kEarly, most})
          trial.cut_again(first.first, 1 + static_cast<int>(dice.below(static_cast<std::size_t>(reach))));
      else
        for (int nth = 1; trial.cut_again(first.first, nth);) ++nth;
    }
  }
}
