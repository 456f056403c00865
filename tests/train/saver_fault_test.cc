// Whole saves that fail, are killed or lose power at every single file operation: what the state file names
// can always be restored, old or new, and the next save leaves nothing behind.
#include <doctest/doctest.h>

#include <optional>

#include "graph/graph.h"
#include "graph/io/fault_file_system.h"
#include "graph/io/memory_file_system.h"
#include "graph/log.h"
#include "ops/ops.h"
#include "train/train.h"

using namespace runnel;

namespace {

constexpr int kOperations = 60;  // more than a save takes

// A graph and a session that live through many saves, so that the plans are made once.
struct Run {
  explicit Run(FileSystem& files, int most = 2) : session(g, {.file_system = &files}) {
    v = variable(g, 0, "v");
    twin = variable(g, Tensor::vector<int>({0, 0}), "twin");
    value = placeholder<int>(g, Shape{}, "value");
    set = {assign(v, value), assign(twin, value + Tensor::vector<int>({0, 0}))};
    saver.emplace(g, SaverOptions{.max_to_keep = most});
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

void disown_temporaries(MemoryFileSystem& files) {
  for (const std::string& name : files.list("d"))
    if (is_own_temporary(name))
      files.rename("d/" + name,
                   "d/" + target_of_temporary(name) + ".tempstate5" + name.substr(name.size() - 1));
}

bool has_temporaries(MemoryFileSystem& files) {
  for (const std::string& name : files.list("d"))
    if (!target_of_temporary(name).empty()) return true;
  return false;
}

}  // namespace

TEST_CASE("a save that fails at any operation leaves the older checkpoints and nothing of its own") {
  for (const Fault fault : {Fault::kNoSpace, Fault::kInputError, Fault::kShortWrite})
    for (int nth = 1; nth <= kOperations; ++nth) {
      CAPTURE(nth);
      MemoryFileSystem memory;
      FaultFileSystem files(memory);
      Run run(files, 0);
      run.save("d/m", 1);
      const auto before = memory.contents();
      files.fail_at(nth, fault);
      bool done = true;
      try {
        run.save("d/m", 2);
      } catch (const Error&) {
        done = false;
      }
      const bool finished = files.operations() < nth;
      files.fail_at(0, fault);
      const std::string newest = latest_checkpoint("d", {.file_system = &memory});
      CHECK(run.load(newest) == (newest == "d/m-2" ? 2 : 1));
      if (done) CHECK(newest == "d/m-2");
      if (newest == "d/m-1") CHECK(memory.contents() == before);
      if (finished) break;
    }
}

TEST_CASE("a save that is killed or loses power at any operation leaves the old or the new state") {
  const ScopedLogSink quiet([](LogLevel, const std::string&) {});  // what could not be deleted is warned of
  for (const PowerCut cut : {PowerCut::kLosesAllUnsynced, PowerCut::kKeepsNames, PowerCut::kKeepsBytes})
    for (const bool power : {false, true})
      for (int nth = 1; nth <= kOperations; ++nth) {
        CAPTURE(nth);
        CAPTURE(power);
        MemoryFileSystem memory;
        FaultFileSystem files(memory);
        Run run(files);
        for (const int step : {1, 2}) run.save("d/m", step);
        files.fail_at(nth, Fault::kStop);
        bool done = true;
        try {
          run.save("d/m", 3);
        } catch (const Error&) {
          done = false;
        }
        const bool finished = files.operations() < nth;
        files.fail_at(0, Fault::kStop);
        if (power) memory.reboot(cut);
        disown_temporaries(memory);
        Run again(memory);
        const std::string newest = latest_checkpoint("d", {.file_system = &memory});
        const int number = again.load(newest);
        CHECK((number == 3 || (number == 2 && !done)));
        CHECK(newest == cat("d/m-", number));
        again.save("d/m", 4);
        CHECK(again.load(latest_checkpoint("d", {.file_system = &memory})) == 4);
        CHECK(!has_temporaries(memory));
        if (finished) break;
      }
}
