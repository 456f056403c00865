// A session that is lost (Aborted, Unavailable) is made anew from the newest checkpoint, and the call
// repeated.
#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "graph/error.h"
#include "graph/io/memory_file_system.h"
#include "graph/log.h"
#include "ops/ops.h"
#include "tests/graph/until.h"
#include "tests/train/monitored/probe_hook.h"
#include "train/checkpoint/saver.h"
#include "train/monitored/monitored_session.h"
#include "train/supervisor/coordinator.h"

namespace runnel {
namespace {

using Lines = std::vector<std::string>;

struct Quiet {
  ScopedLogSink sink{[](LogLevel, const std::string&) {}};
};

struct Model {
  Model() : count(variable(g, std::int64_t{0}, "count")), up(assign_add(count, std::int64_t{1}).node()) {}
  std::shared_ptr<SessionCreator> creator(std::string directory = "") {
    return std::make_shared<ChiefSessionCreator>(
        g,
        ChiefSessionCreatorOptions{
            .scaffold = scaffold, .config = {.file_system = &files}, .checkpoint_dir = std::move(directory)});
  }
  std::int64_t value(MonitoredSession& session) { return session.raw_session().get<std::int64_t>(count); }

  Quiet quiet;
  MemoryFileSystem files;
  Graph g;
  Variable count;
  Operation up;
  Scaffold scaffold;
};

// Gives sessions as another creator does, after failing a number of times.
class Flaky final : public SessionCreator {
 public:
  std::atomic<int> calls{0};

  Flaky(std::shared_ptr<SessionCreator> inner, int failures)
      : inner_(std::move(inner)), failures_(failures) {}
  std::shared_ptr<Session> create_session(Coordinator* coord) override {
    if (++calls <= failures_) throw Unavailable("the other side is restarting");
    return inner_->create_session(coord);
  }

 private:
  std::shared_ptr<SessionCreator> inner_;
  const int failures_;
};

TEST_CASE("a lost run goes on from the newest checkpoint, with the same hooks, and is repeated") {
  Model m;
  Lines lines;
  const auto hook = std::make_shared<Probe>("A", &lines);
  int runs = 0;
  hook->before = [&](SessionRunContext&) -> std::optional<SessionRunArgs> {
    if (++runs == 3) throw Aborted("the session is lost");
    return {};
  };
  MonitoredSession session(m.g, {.session_creator = m.creator("d"), .hooks = {hook}});
  session.run(m.up);
  m.scaffold.saver()->save(session.raw_session(), "d/model.ckpt", {.global_step = 1});
  session.run(m.up);
  CHECK(m.value(session) == 2);
  session.run(m.up);
  CHECK(m.value(session) == 2);
  session.close();
  CHECK(lines == Lines{"A begin", "A created", "A before", "A after", "A before", "A after", "A before",
                       "A created", "A before", "A after", "A end"});
}

TEST_CASE("an error of a hook after the run repeats the step, too") {
  Model m;
  const auto hook = std::make_shared<Probe>();
  bool failed = false;
  hook->after = [&](SessionRunContext&, const SessionRunValues&) {
    if (!std::exchange(failed, true)) throw Unavailable("gone");
  };
  MonitoredSession session(m.g, {.session_creator = m.creator(), .hooks = {hook}});
  session.run(m.up);
  CHECK(m.value(session) == 1);
}

TEST_CASE("other errors reach the caller and the session stays") {
  Model m;
  const auto hook = std::make_shared<Probe>();
  bool failed = false;
  hook->after = [&](SessionRunContext&, const SessionRunValues&) {
    if (!std::exchange(failed, true)) throw Internal("a bug");
  };
  MonitoredSession session(m.g, {.session_creator = m.creator(), .hooks = {hook}});
  CHECK_THROWS_WITH_AS(session.run(m.up), "a bug", Internal);
  session.run(m.up);
  CHECK(m.value(session) == 2);
}

TEST_CASE("a thread that lost its session makes should_stop begin anew and answer false") {
  Model m;
  Lines lines;
  const auto hook = std::make_shared<Probe>("A", &lines);
  bool failed = false;
  hook->created = [&](Session&, Coordinator& coord) {
    if (std::exchange(failed, true)) return;
    coord.start_thread("reader", [] { throw Aborted("gone"); });
    coord.wait_for_stop();
  };
  MonitoredSession session(m.g, {.session_creator = m.creator(), .hooks = {hook}});
  CHECK_FALSE(session.should_stop());
  CHECK(lines == Lines{"A begin", "A created", "A created"});
  session.run(m.up);
  session.close();
  CHECK(session.stop_reason().exit_code() == 0);
}

TEST_CASE("a run that fails because a thread lost its session is repeated") {
  Model m;
  const auto hook = std::make_shared<Probe>();
  bool failed = false;
  Coordinator* coord = nullptr;
  hook->created = [&](Session&, Coordinator& c) { coord = &c; };
  hook->before = [&](SessionRunContext&) -> std::optional<SessionRunArgs> {
    if (std::exchange(failed, true)) return {};
    coord->request_stop(std::make_exception_ptr(Unavailable("gone")));
    throw Internal("a consequence");
  };
  MonitoredSession session(m.g, {.session_creator = m.creator(), .hooks = {hook}});
  session.run(m.up);
  CHECK(m.value(session) == 1);
}

TEST_CASE("a thread's error takes the place of the Cancelled that the stop made of the run") {
  Model m;
  const auto hook = std::make_shared<Probe>();
  Coordinator* coord = nullptr;
  hook->created = [&](Session&, Coordinator& c) { coord = &c; };
  hook->before = [&](SessionRunContext&) -> std::optional<SessionRunArgs> {
    coord->request_stop(std::make_exception_ptr(DataLoss("the file is torn")));
    throw Cancelled("dequeue was cancelled");
  };
  MonitoredSession session(m.g, {.session_creator = m.creator(), .hooks = {hook}});
  CHECK_THROWS_WITH_AS(session.close_after([&](MonitoredSession& s) { s.run(m.up); }), "the file is torn",
                       DataLoss);
}

TEST_CASE("a creator that is unavailable is asked again, at first at once, then after a pause") {
  Model m;
  ManualClock clock;
  const auto creator = std::make_shared<Flaky>(m.creator(), 3);
  std::jthread time([&] {
    for (const int call : {2, 3}) {  // after which it waits for 1 s, then for 2 s
      until([&] { return creator->calls == call && clock.waiting() > 0; });
      clock.advance(call - 1);
    }
  });
  MonitoredSession session(m.g, {.session_creator = creator, .clock = &clock});
  time.join();
  CHECK(creator->calls == 4);
  session.run(m.up);
  CHECK(m.value(session) == 1);
}

TEST_CASE("a hook that finds the new session lost gets another one") {
  Model m;
  Lines lines;
  const auto hook = std::make_shared<Probe>("A", &lines);
  bool failed = false;
  hook->created = [&](Session&, Coordinator&) {
    if (!std::exchange(failed, true)) throw Unavailable("gone already");
  };
  MonitoredSession session(m.g, {.session_creator = m.creator(), .hooks = {hook}});
  session.run(m.up);
  CHECK(lines == Lines{"A begin", "A created", "A created", "A before", "A after"});
}

TEST_CASE("a step function is called again as a whole, with the new session") {
  Model m;
  MonitoredSession session(m.g, {.session_creator = m.creator()});
  std::vector<const Session*> sessions;
  session.run_step_fn([&](StepContext& context) {
    sessions.push_back(&context.session());
    context.run_with_hooks(m.up);
    if (sessions.size() == 1) throw Aborted("gone");
  });
  CHECK(sessions.size() == 2);
  CHECK(sessions.back() == &session.raw_session());
  CHECK(m.value(session) == 1);
}

TEST_CASE("a recovery that fails for good reaches the caller, and the next run tries again") {
  Model m;
  class Once final : public SessionCreator {
   public:
    explicit Once(std::shared_ptr<SessionCreator> inner) : inner_(std::move(inner)) {}
    std::shared_ptr<Session> create_session(Coordinator* coord) override {
      if (++calls_ == 2) throw DataLoss("all checkpoints are damaged");
      return inner_->create_session(coord);
    }

   private:
    std::shared_ptr<SessionCreator> inner_;
    int calls_ = 0;
  };
  const auto hook = std::make_shared<Probe>();
  int runs = 0;
  hook->before = [&](SessionRunContext&) -> std::optional<SessionRunArgs> {
    if (++runs == 1) throw Aborted("gone");
    return {};
  };
  MonitoredSession session(m.g, {.session_creator = std::make_shared<Once>(m.creator()), .hooks = {hook}});
  CHECK_THROWS_AS(session.run(m.up), DataLoss);
  CHECK(session.should_stop());
  CHECK_THROWS_AS(session.raw_session(), FailedPrecondition);
  session.run(m.up);
  CHECK(m.value(session) == 1);
}

// Has a thread of the first session fail, for a part of the training is gone.
std::shared_ptr<Probe> loses_the_first() {
  const auto hook = std::make_shared<Probe>();
  hook->created = [first = true](Session&, Coordinator& coord) mutable {
    if (!std::exchange(first, false)) return;
    coord.start_thread("reader", [] { throw Aborted("gone"); });
    coord.wait_for_stop();
  };
  return hook;
}

// The nth session and those after it cannot be made; all that were are kept.
class Keeping final : public SessionCreator {
 public:
  Keeping(std::shared_ptr<SessionCreator> inner, std::size_t fails_at)
      : inner_(std::move(inner)), fails_at_(fails_at) {}
  std::shared_ptr<Session> create_session(Coordinator* coord) override {
    if (all_.size() + 1 == fails_at_) throw DataLoss("all checkpoints are damaged");
    return all_.emplace_back(inner_->create_session(coord));
  }

 private:
  std::shared_ptr<SessionCreator> inner_;
  const std::size_t fails_at_;
  std::vector<std::shared_ptr<Session>> all_;
};

TEST_CASE("a step function inside of which the session is made anew goes on with the new one") {
  Model m;
  MonitoredSession session(
      m.g, {.session_creator = std::make_shared<Keeping>(m.creator(), 3), .hooks = {loses_the_first()}});
  session.run_step_fn([&](StepContext& context) {
    CHECK_FALSE(session.should_stop());
    CHECK_FALSE(context.session().closed());
    context.run_with_hooks(m.up);
  });
  CHECK(m.value(session) == 1);
}

TEST_CASE("a step function whose session could not be made anew is refused runs") {
  Model m;
  MonitoredSession session(
      m.g, {.session_creator = std::make_shared<Keeping>(m.creator(), 2), .hooks = {loses_the_first()}});
  session.run_step_fn([&](StepContext& context) {
    CHECK_THROWS_AS(session.should_stop(), DataLoss);
    CHECK_THROWS_AS(context.session(), FailedPrecondition);
    CHECK_THROWS_AS(context.run_with_hooks(m.up), FailedPrecondition);
  });
}

TEST_CASE("a stop that a hook asked for in a run that is lost holds, and the run is repeated") {
  Model m;
  const auto asks = std::make_shared<Probe>("Asks"), loses = std::make_shared<Probe>();
  bool asked = false, lost = false;
  asks->after = [&](SessionRunContext& context, const SessionRunValues&) {
    if (!std::exchange(asked, true)) context.request_stop("enough");
  };
  loses->after = [&](SessionRunContext&, const SessionRunValues&) {
    if (!std::exchange(lost, true)) throw Aborted("gone");
  };
  for (const bool in_step_fn : {false, true}) {
    CAPTURE(in_step_fn);
    asked = lost = false;
    MonitoredSession session(m.g, {.session_creator = m.creator(), .hooks = {asks, loses}});
    if (in_step_fn)
      session.run_step_fn([&](StepContext& context) { context.run_with_hooks(m.up); });
    else
      session.run(m.up);
    CHECK(m.value(session) == 1);
    CHECK(session.should_stop());
    CHECK(session.stop_reason().text == "Asks: enough");
    CHECK_THROWS_AS(session.run(m.up), FailedPrecondition);
  }
}

TEST_CASE("a singular session gives Aborted to the caller") {
  Model m;
  const auto hook = std::make_shared<Probe>();
  hook->before = [](SessionRunContext&) -> std::optional<SessionRunArgs> { throw Aborted("gone"); };
  SingularMonitoredSession session(m.g, {.hooks = {hook}});
  CHECK_THROWS_AS(session.run(m.up), Aborted);
  CHECK_THROWS_AS(session.close_after([&](MonitoredSession& s) { s.run(m.up); }), Aborted);
  CHECK(session.stop_reason().cause == StopCause::kError);
}

TEST_CASE("a run whose hook makes the session anew keeps its own session to its end, closed") {
  const Quiet quiet;
  Model m;
  const auto hook = std::make_shared<Probe>();
  MonitoredSession* session = nullptr;
  Coordinator* coord = nullptr;
  bool closed = false;
  hook->created = [&](Session&, Coordinator& c) { coord = &c; };
  hook->after = [&](SessionRunContext& context, const SessionRunValues&) {
    if (closed) return;
    coord->request_stop(std::make_exception_ptr(Aborted("a thread is gone")));
    CHECK_FALSE(session->should_stop());
    closed = context.session().closed();
  };
  MonitoredSession monitored(m.g, {.session_creator = m.creator(), .hooks = {hook}, .handle_signals = false});
  session = &monitored;
  monitored.run(m.up);
  CHECK(closed);
  CHECK(m.value(monitored) == 0);
}

}  // namespace
}  // namespace runnel
