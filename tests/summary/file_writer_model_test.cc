// Random lives of a writer against a model: adding, flushing, closing and opening again, faults of the disk,
// deaths of the process and of the machine. The model is a list of the events that must be in the files, or
// may still wait, in order, and how many of them a flush has promised.
#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "graph/error.h"
#include "graph/io/fault_file_system.h"
#include "graph/io/memory_file_system.h"
#include "graph/log.h"
#include "summary/file_writer.h"
#include "tests/summary/reading.h"

using namespace runnel;

namespace {

enum class World {
  kFaults,     // the disk fails now and then, processes die
  kPowerCuts,  // the disk is well, its power goes now and then, and the writer syncs
};

class Life {
 public:
  Life(unsigned seed, World world) : random_(seed), world_(world) { begin(); }

  void act() {
    const unsigned chance = below(100);
    if (chance < 65) return add();
    if (chance < 80) return flush();
    if (chance < 86) return reopen();
    if (chance < 90) return clock_.advance(below(200));
    if (chance < 96) return fail();
    die();
  }

  void end() {
    files_->fail_at(0, Fault::kNoSpace);
    close();
    CHECK(there() == expected_);
  }

 private:
  unsigned below(unsigned limit) { return static_cast<unsigned>(random_() % limit); }

  void begin() {
    files_ = std::make_unique<FaultFileSystem>(memory_);
    writer_ = std::make_unique<FileWriter>("logs", FileWriterOptions{.must_open = false,
                                                                     .sync = world_ == World::kPowerCuts,
                                                                     .clock = &clock_,
                                                                     .files = files_.get()});
  }

  void add() {
    const std::string tag(below(30) == 0 ? 100'000 : below(300), 't');
    for (unsigned left = below(4) == 0 ? 100 : 1; left > 0; --left) {
      writer_->scalar(tag, 1, ++added_);
      expected_.push_back(added_);
    }
  }

  void flush() {
    try {
      writer_->flush();
      promised_ = expected_.size();
    } catch (const Error&) {  // a fault; what waits still does
    }
  }

  // What cannot be written any more is the newest, and counted.
  void close() {
    const std::int64_t before = writer_->lost();
    bool threw = false;
    try {
      writer_->close();
    } catch (const Error&) {
      threw = true;
    }
    const std::int64_t lost = writer_->lost() - before;
    CHECK((threw || lost == 0));
    expected_.resize(expected_.size() - static_cast<std::size_t>(lost));
    promised_ = expected_.size();
  }

  void reopen() {
    close();
    CHECK(there() == expected_);
    writer_->reopen();
  }

  void fail() {
    if (world_ == World::kPowerCuts) return;
    constexpr Fault kFaults[] = {Fault::kNoSpace, Fault::kInputError, Fault::kShortWrite};
    files_->fail_at(static_cast<int>(1 + below(6)), kFaults[below(3)]);
  }

  void die() {
    files_->fail_at(1, Fault::kStop);
    writer_.reset();
    constexpr PowerCut kCuts[] = {PowerCut::kLosesAllUnsynced, PowerCut::kKeepsNames, PowerCut::kKeepsBytes};
    if (world_ == World::kPowerCuts) memory_.reboot(kCuts[below(3)]);
    const std::vector<std::int64_t> kept = there();
    CHECK(kept.size() >= promised_);
    REQUIRE(kept.size() <= expected_.size());
    expected_.resize(kept.size());
    CHECK(kept == expected_);
    promised_ = kept.size();
    begin();
  }

  std::vector<std::int64_t> there() {
    return memory_.exists("logs") ? steps_in(memory_, "logs") : std::vector<std::int64_t>();
  }

  std::mt19937 random_;
  const World world_;
  MemoryFileSystem memory_;
  ManualClock clock_;
  ScopedLogSink quiet_{[](LogLevel, const std::string&) {}};
  std::unique_ptr<FaultFileSystem> files_;
  std::unique_ptr<FileWriter> writer_;
  std::int64_t added_ = 0;
  std::vector<std::int64_t> expected_;
  std::size_t promised_ = 0;
};

void live(World world, unsigned lives) {
  for (unsigned seed = 1; seed <= lives; ++seed) {
    CAPTURE(seed);
    Life life(seed, world);
    for (int i = 0; i < 60; ++i) life.act();
    life.end();
  }
}

}  // namespace

TEST_CASE("whatever fails and dies, files hold what was promised, each event once and in order") {
  live(World::kFaults, 60);
}

TEST_CASE("a synced writer keeps its promises when the power goes") { live(World::kPowerCuts, 60); }
