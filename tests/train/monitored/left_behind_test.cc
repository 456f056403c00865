// Sessions with a thread that does not end: one that hangs inside a read, say. Nobody waits for it longer
// than the grace period, and what it uses is there until it ends.
#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>

#include "graph/io/forwarding_file_system.h"
#include "graph/io/memory_file_system.h"
#include "graph/log.h"
#include "ops/ops.h"
#include "tests/graph/door.h"
#include "tests/train/monitored/probe_hook.h"
#include "train/monitored/monitored_session.h"
#include "train/supervisor/coordinator.h"

namespace runnel {
namespace {

// Files that are opened when the door lets them.
class SlowFiles final : public ForwardingFileSystem {
 public:
  using ForwardingFileSystem::ForwardingFileSystem;
  std::unique_ptr<ReadableFile> open_for_reading(const std::string& path) override {
    door.pass();
    return files_.open_for_reading(path);
  }
  Door door;
};

// The first session has a thread whose step hangs in a read.
struct Reading {
  Reading() {
    memory.open_for_writing("data", WriteMode::kTruncate)->close();
    hook->created = [this](Session& session, Coordinator& coord) {
      if (reader) return;
      files.door.shut();
      first = session.share();
      reader = coord.start_thread("reader", [this, own = session.share()] { own->run(contents); });
      files.door.await_waiting();
    };
  }
  ~Reading() {
    files.door.open();
    if (reader) reader.join();
  }
  MonitoredSessionOptions options() {
    return {.session_creator = std::make_shared<ChiefSessionCreator>(
                g, ChiefSessionCreatorOptions{.config = {.file_system = &files}}),
            .hooks = {hook},
            .stop_grace_period_secs = 0,
            .handle_signals = false};
  }

  ScopedLogSink quiet{[](LogLevel, const std::string&) {}};
  MemoryFileSystem memory;
  SlowFiles files{memory};
  Graph g;
  const Output contents = read_file_contents(constant(g, Tensor::scalar(std::string("data"))));
  const Output one = constant(g, Tensor::scalar(1.0f));
  const std::shared_ptr<Probe> hook = std::make_shared<Probe>();
  std::shared_ptr<Session> first;
  CoordinatedThread reader;
};

TEST_CASE("closing leaves a step that hangs to its thread, and refuses all others at once") {
  Reading r;
  MonitoredSession session(r.g, r.options());
  session.close();
  CHECK(r.reader.alive());
  CHECK_THROWS_AS(r.first->run(r.one), FailedPrecondition);
}

TEST_CASE("a session is made anew while a thread of the lost one still hangs in a step") {
  Reading r;
  bool failed = false;
  r.hook->after = [&](SessionRunContext&, const SessionRunValues&) {
    if (!std::exchange(failed, true)) throw Aborted("gone");
  };
  MonitoredSession session(r.g, r.options());
  CHECK(session.run(r.one).scalar<float>() == 1);
  CHECK(r.reader.alive());
  CHECK(r.first->closed());
  CHECK_FALSE(session.raw_session().closed());
}

TEST_CASE("what a hook gave to a thread that is left behind is there as long as the thread") {
  const ScopedLogSink quiet([](LogLevel, const std::string&) {});
  Graph g;
  const Output one = constant(g, Tensor::scalar(1.0f));
  Door door;
  door.shut();
  CoordinatedThread slow;
  std::string what;
  const auto hook = std::make_shared<Probe>();
  hook->created = [&](Session& session, Coordinator& coord) {
    slow = coord.start_thread("slow", [&] {
      door.pass();
      what = coord.should_stop() ? "stopped; " : "";
      session.run(one);
    });
  };
  {
    MonitoredSession session(g, {.hooks = {hook}, .stop_grace_period_secs = 0, .handle_signals = false});
    session.close();
  }
  door.open();
  slow.join();
  CHECK(what == "stopped; ");
}

TEST_CASE("a start that fails waits for threads no longer than the grace period, not for their steps") {
  Reading r;
  const auto fails = std::make_shared<Probe>();
  fails->created = [](Session&, Coordinator&) { throw DataLoss("the vocabulary is torn"); };
  MonitoredSessionOptions options = r.options();
  options.hooks.push_back(fails);
  CHECK_THROWS_WITH_AS(MonitoredSession(r.g, std::move(options)), "the vocabulary is torn", DataLoss);
  CHECK(r.reader.alive());
  CHECK(r.first->closed());
}

}  // namespace
}  // namespace runnel
