// Whole saves that fail, are killed or lose power at every single file operation: what the state file names
// can always be restored, old or new, and the next save leaves nothing behind.
#include <doctest/doctest.h>

#include <optional>

#include "graph/graph.h"
#include "graph/log.h"
#include "ops/ops.h"
#include "tests/train/faulty_disk.h"
#include "train/train.h"

using namespace runnel;

namespace {

constexpr int kOperations = 120;  // more than a save takes

// A graph and a session that live through many saves, so that the plans are made once.
struct Run {
  explicit Run(FileSystem& files, int most, bool sharded) : session(g, {.file_system = &files}) {
    v = variable(g, 0, "v");
    const DeviceScope elsewhere(g, "/cpu:1");
    twin = variable(g, Tensor::vector<int>({0, 0}), "twin");
    value = placeholder<int>(g, Shape{}, "value");
    set = {assign(v, value), assign(twin, value + Tensor::vector<int>({0, 0}))};
    saver.emplace(g, SaverOptions{.sharded = sharded, .max_to_keep = most});
  }
  std::string save(const std::string& path, int number) {
    for (const Output& one : set) session.run(one, {{value, Tensor::scalar(number)}});
    return saver->save(session, path, {.global_step = number});
  }
  // The number that the checkpoint holds; -1 if it is mixed.
  int load(const std::string& prefix) {
    saver->restore(session, prefix);
    const int number = session.get<int>(v);
    return session.run(twin) == Tensor::vector<int>({number, number}) ? number : -1;
  }
  Graph g;
  Variable v, twin;
  Output value;
  Outputs set;
  Session session;
  std::optional<Saver> saver;
};

}  // namespace

TEST_CASE("a save that fails at any operation leaves the older checkpoints and nothing of its own") {
  for (const bool sharded : {false, true})
    for (const Fault fault : kFailures)
      for (int nth = 1; nth <= kOperations; ++nth) {
        CAPTURE(nth);
        CAPTURE(sharded);
        FaultyDisk disk;
        Run run(disk.files, 0, sharded);
        run.save("d/m", 1);
        const auto before = disk.memory.contents();
        const FaultyDisk::Outcome save = disk.with_fault(nth, fault, [&] { run.save("d/m", 2); });
        const std::string newest = latest_checkpoint("d", {.file_system = &disk.memory});
        CHECK(run.load(newest) == (newest == "d/m-2" ? 2 : 1));
        if (save.done) CHECK(newest == "d/m-2");
        if (newest == "d/m-1") CHECK(disk.memory.contents() == before);
        if (save.finished) break;
      }
}

TEST_CASE("a save that is killed or loses power at any operation leaves the old or the new state") {
  const ScopedLogSink quiet([](LogLevel, const std::string&) {});  // what could not be deleted is warned of
  for (const bool sharded : {false, true})
    for (const PowerCut cut : kPowerCuts)
      for (const bool power : {false, true})
        for (int nth = 1; nth <= kOperations; ++nth) {
          CAPTURE(nth);
          CAPTURE(power);
          CAPTURE(sharded);
          FaultyDisk disk;
          Run run(disk.files, 2, sharded);
          for (const int step : {1, 2}) run.save("d/m", step);
          const FaultyDisk::Outcome save = disk.with_fault(nth, Fault::kStop, [&] { run.save("d/m", 3); });
          if (power) disk.memory.reboot(cut);
          disk.disown_temporaries();
          Run again(disk.memory, 2, sharded);
          const std::string newest = latest_checkpoint("d", {.file_system = &disk.memory});
          const int number = again.load(newest);
          CHECK((number == 3 || (number == 2 && !save.done)));
          CHECK(newest == cat("d/m-", number));
          again.save("d/m", 4);
          CHECK(again.load(latest_checkpoint("d", {.file_system = &disk.memory})) == 4);
          CHECK(!disk.has_temporaries());
          for (const std::string& name : disk.memory.list("d")) CHECK(!name.ends_with("_temp"));
          if (save.finished) break;
        }
}
