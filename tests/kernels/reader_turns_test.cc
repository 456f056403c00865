// Readers that many steps use at once: turns, waiting, stopping.
#include <doctest/doctest.h>

#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "graph/log.h"
#include "kernels/reader/reader.h"
#include "reader_probe.h"
#include "tests/graph/sanitizers.h"

using namespace runnel;

namespace {

constexpr int kLines = kSanitized ? 200 : 2000;

// A step of its own, as far as a reader sees one.
class Step final : public Context {
 public:
  struct Flag final : Waker {
    void wake() override { up = true; }
    bool up = false;
  };
  bool reads(Reader& reader, Queue& names) {
    std::vector<KeyedRecord> records;
    const bool done = reader.read(*this, names, 1, records);
    if (done) parked_.reset();
    return done;
  }
  bool woken() const { return flag_->up; }
  void drop() { parked_.reset(); }

  Tensor tensor(int) override { return {}; }
  void set_output(int, Tensor) override {}
  void set_dead(int) override {}
  bool is_dead(int) const override { return false; }
  void assign(int, Tensor) override {}
  bool initialized(int) const override { return true; }
  std::shared_ptr<Waker> waker() override { return flag_; }
  std::shared_ptr<Parked>& parked() override { return parked_; }
  bool cancelled() const override { return stopped; }
  bool stopped = false;

 private:
  void parallel_ranges(std::int64_t, std::int64_t,
                       const std::function<void(std::int64_t, std::int64_t)>&) override {}
  void* make_room(int, const Shape&) override { return nullptr; }
  std::shared_ptr<Flag> flag_ = std::make_shared<Flag>();
  std::shared_ptr<Parked> parked_;
};

// Every name is a file of one record, the name.
struct Names final : RecordFormat {
  struct Source final : RecordSource {
    std::string name;
    std::optional<KeyedRecord> next() override { return KeyedRecord{name, name}; }
    bool is_whole() const override { return true; }
  };
  std::unique_ptr<RecordSource> open(FileSystem&, const std::string& path) const override {
    auto source = std::make_unique<Source>();
    source->name = path;
    return source;
  }
};

// Every name is an empty file, but for "full", which has one record; "3" is where the step is stopped.
struct EmptyFiles final : RecordFormat {
  explicit EmptyFiles(bool* stopped) : stopped_(stopped) {}
  struct Source final : RecordSource {
    std::optional<KeyedRecord> record;
    std::optional<KeyedRecord> next() override { return std::exchange(record, std::nullopt); }
    bool is_whole() const override { return false; }
  };
  std::unique_ptr<RecordSource> open(FileSystem&, const std::string& path) const override {
    if (path == "3") *stopped_ = true;
    auto source = std::make_unique<Source>();
    if (path == "full") source->record = KeyedRecord{path, path};
    return source;
  }
  bool* stopped_;
};

}  // namespace

TEST_CASE("whoever has read, or is stopped, wakes those that wait for their turn") {
  MemoryFileSystem files;
  const auto reader = std::make_shared<Reader>("r", std::make_unique<Names>(), files);
  const auto names = std::make_shared<Queue>(
      QueueForm{.kind = "FIFOQueue", .name = "q", .types = {DType::kString}}, first_in_first_out());
  Step first, second, third;
  for (Step* step : {&first, &second, &third}) CHECK(!step->reads(*reader, *names));
  first.drop();
  CHECK(second.woken());
  CHECK(!second.reads(*reader, *names));
  names->enqueue({Tensor::scalar("a")}, nullptr);
  CHECK(second.reads(*reader, *names));
  CHECK(third.woken());
  CHECK(!third.reads(*reader, *names));
  CHECK(reader->records_produced() == 1);
}

TEST_CASE("a read that goes from one empty file to the next can be stopped between them") {
  MemoryFileSystem files;
  Step step;
  const auto reader = std::make_shared<Reader>("r", std::make_unique<EmptyFiles>(&step.stopped), files);
  const auto names = std::make_shared<Queue>(
      QueueForm{.kind = "FIFOQueue", .name = "q", .types = {DType::kString}}, first_in_first_out());
  for (const char* name : {"1", "2", "3", "4"}) names->enqueue({Tensor::scalar(name)}, nullptr);
  CHECK(!step.reads(*reader, *names));
  CHECK(reader->files_completed() == 3);
  CHECK(names->size() == 1);
}

TEST_CASE("a thousand files in a row without a record are warned of, and once") {
  MemoryFileSystem files;
  std::vector<std::string> said;
  const ScopedLogSink sink([&](LogLevel, const std::string& line) { said.push_back(line); });
  Step step;
  const auto reader = std::make_shared<Reader>("lines", std::make_unique<EmptyFiles>(&step.stopped), files);
  const auto names = std::make_shared<Queue>(
      QueueForm{.kind = "FIFOQueue", .name = "q", .types = {DType::kString}}, first_in_first_out());
  const auto read = [&](const char* name, int times) {
    for (int i = 0; i < times; ++i) names->enqueue({Tensor::scalar(name)}, nullptr);
    return step.reads(*reader, *names);
  };
  CHECK(!read("empty", 999));
  CHECK(read("full", 1));
  CHECK(!read("empty", 999));
  CHECK(said.empty());
  CHECK(!read("last", 1));
  CHECK(!read("empty", 3000));
  CHECK(said == std::vector<std::string>{
                    "reader 'lines': the last 1000 files had no record, 'last' being one of them; it looks "
                    "for one in those to come. Are the files empty, or are all their lines skipped as header "
                    "lines?"});
}

TEST_CASE("each record goes to one of the steps that read at once") {
  ReaderProbe p;
  std::string text;
  for (int i = 0; i < kLines; ++i) text += cat(i, "\n");
  p.file("a", text);
  p.file("b", text);
  const KeyValue line = TextLineReader(p.g).read(p.names);
  std::mutex mutex;
  std::multiset<std::string> seen;
  const auto body = [&] {
    Prepared call = p.session.prepare({.fetches = {line.key}});
    for (;;) try {
        const std::string key = call()[0].values<std::string>()[0];
        const std::lock_guard lock(mutex);
        seen.insert(key);
      } catch (const Error&) {  // the end; anything else is missed below
        return;
      }
  };
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(body);
  p.queue({"a", "b", "a"});
  for (std::jthread& thread : threads) thread.join();
  CHECK(seen.size() == static_cast<std::size_t>(3 * kLines));
  CHECK(seen.count("a:1") == 2);
  CHECK(seen.count(cat("b:", kLines)) == 1);
}

TEST_CASE("a step may hold the enqueue that its read waits for") {
  ReaderProbe p;
  p.file("a", "1\n");
  const Operation put = p.names.enqueue({constant(p.g, Tensor::scalar("a"))});
  const KeyValue line = TextLineReader(p.g).read(p.names);
  const auto got = p.session.run({line.value, put});
  CHECK(got[0] == Tensor::scalar("1"));
}

TEST_CASE("a read that is stopped while it waits loses neither its turn nor a name") {
  ReaderProbe p;
  p.file("a", "1\n");
  const TextLineReader reader(p.g);
  const KeyValue line = reader.read(p.names);
  for (int i = 0; i < 3; ++i)
    CHECK_THROWS_AS(p.session.run({line.value}, {}, {.timeout_in_ms = 1}), DeadlineExceeded);
  CHECK(p.session.run(reader.num_records_produced()) == Tensor::scalar<std::int64_t>(0));
  p.queue({"a"}, false);
  CHECK(p.one(line).second == "1");
  p.session.stop_waiting("the program stops");
  CHECK(p.refusal(line.value).starts_with("Cancelled: "));
}

TEST_CASE("two reads of one step are two records") {
  ReaderProbe p;
  p.file("a", "1\n2\n");
  const TextLineReader reader(p.g);
  const KeyValue first = reader.read(p.names), second = reader.read(p.names);
  p.queue({"a"});
  const auto got = p.session.run({first.value, second.value});
  CHECK(got[0].scalar<std::string>() + got[1].scalar<std::string>() == "12");
}
