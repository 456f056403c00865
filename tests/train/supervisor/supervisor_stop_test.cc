// Supervisor: services that fail or hang, threads that do not end, and steps that wait when training stops.
#include <doctest/doctest.h>
#include <signal.h>

#include <atomic>
#include <functional>
#include <thread>

#include "graph/io/forwarding_file_system.h"
#include "tests/graph/door.h"
#include "tests/graph/held.h"
#include "tests/graph/sanitizers.h"
#include "tests/graph/scratch_directory.h"
#include "tests/graph/stuck_file_system.h"
#include "tests/graph/thrown.h"
#include "tests/train/supervisor/logged_lines.h"
#include "tests/train/supervisor/supervised_model.h"
#include "train/supervisor/step_saver.h"
#include "train/supervisor/stop_signals.h"

using namespace runnel;

namespace {

constexpr int kRounds = kSanitized ? 100 : 1000;

// The machine's files, where the nth index of a checkpoint cannot be put in its place, or hangs before the
// door.
class TroubledFiles : public ForwardingFileSystem {
 public:
  TroubledFiles() : ForwardingFileSystem(real_file_system()) {}
  void rename(const std::string& from, const std::string& to) override {
    if (to.ends_with(".index")) {
      if (++saves == fails_at) throw ResourceExhausted("the disk is full");
      door.pass();
    }
    files_.rename(from, to);
  }
  std::atomic<int> saves{0};
  int fails_at = 0;
  Door door;
};

// Moves a clock on in the background while it lives, until threads are left behind: what comes after, such as
// the end of the events, has its full time.
class Time {
 public:
  Time(ManualClock& clock, const LoggedLines& log)
      : thread_([&](const std::stop_token& stop) {
          while (!stop.stop_requested() && !log.has("stopped with threads still running")) {
            clock.advance(0.05);
            std::this_thread::yield();
          }
        }) {}

 private:
  std::jthread thread_;
};

// Those left behind end, too, before what they use goes.
void join_stragglers(Supervisor& sv) {
  for (const CoordinatedThread& thread : sv.coord().stragglers()) thread.join();
}

}  // namespace

TEST_CASE(
    "a checkpoint service that fails at its third save stops training with the reason, within an interval") {
  const ScratchDirectory dir;
  const LoggedLines log;
  ManualClock clock;
  TroubledFiles files;
  files.fails_at = 3;
  CountingModel m;
  Supervisor sv(m.g, {.logdir = dir.path(), .save_model_secs = 1, .clock = &clock, .file_system = &files});
  const std::string what = what_of([&] {
    sv.managed_session([&](Session& session) {
      for (int saves = 1; !sv.should_stop(); ++saves) {
        until([&] { return files.saves >= saves; });
        session.run(m.train);
        clock.advance(1);
        if (saves == 3) CHECK(sv.wait_for_stop());
      }
    });
  });
  CHECK(what.find("the disk is full") != what.npos);
  CHECK(sv.stop_reason().cause == StopCause::kError);
  CHECK(log.has("Coordinator: stopping (error): thread 'checkpoint service': "));
  CHECK(checkpoints_in(dir.path()) == std::vector<std::string>{"model.ckpt-0", "model.ckpt-1"});
}

TEST_CASE("a save that hangs is noticed within an interval after it is due, and training goes on") {
  const ScratchDirectory dir;
  const LoggedLines log;
  ManualClock clock;
  TroubledFiles files;
  files.door.shut();
  CountingModel m;
  Supervisor sv(m.g, {.logdir = dir.path(), .save_model_secs = 1, .clock = &clock, .file_system = &files});
  sv.managed_session([&](Session& session) {
    until([&] { return files.saves == 1; });
    clock.advance(2);
    until([&] {
      return log.has(
          "no checkpoint for 2 x its interval of 1 s: the thread 'checkpoint service' is in a call");
    });
    CHECK_FALSE(sv.should_stop());
    m.run(session, 3);
    files.door.open();
  });
  CHECK(checkpoints_in(dir.path()).back() == "model.ckpt-3");
}

TEST_CASE("a save that hangs for ever is left behind at the end, and the step is said to be unsaved") {
  const ScratchDirectory dir;
  const LoggedLines log;
  ManualClock clock;
  TroubledFiles files;
  files.door.shut();
  std::vector<CoordinatedThread> left;
  {
    CountingModel m;
    Supervisor sv(m.g, {.logdir = dir.path(), .stop_grace_secs = 3, .clock = &clock, .file_system = &files});
    sv.managed_session([&](Session& session) {
      until([&] { return files.saves == 1; });
      m.run(session, 3);
      const Time passes(clock, log);
      sv.stop({.close_summary_writer = false});
    });
    left = sv.coord().stragglers();
  }
  CHECK(log.has("stopped with threads still running after 3 s: "));
  CHECK(log.has("'checkpoint service' (is in a call)"));
  CHECK(log.has("the last step is not saved: the checkpoint service hangs in a save before it"));
  files.door.open();
  for (const CoordinatedThread& thread : left) thread.join();
  CHECK(checkpoints_in(dir.path()) == std::vector<std::string>{"model.ckpt-0"});
}

TEST_CASE("a save that a run left behind has no say in the next run when it comes to its end") {
  const ScratchDirectory dir;
  const LoggedLines log;
  ManualClock clock;
  TroubledFiles files;
  files.door.shut();
  CountingModel m;
  Supervisor sv(m.g, {.logdir = dir.path(),
                      .save_model_secs = 1,
                      .stop_grace_secs = 3,
                      .clock = &clock,
                      .file_system = &files});
  {
    const Time passes(clock, log);
    sv.managed_session([&](Session&) { until([&] { return files.saves == 1; }); });
  }
  const std::vector<CoordinatedThread> left = sv.coord().stragglers();
  CHECK_FALSE(left.empty());
  sv.managed_session([&](Session& session) {
    CHECK(sv.coord().stragglers().empty());
    files.door.open();
    for (const CoordinatedThread& thread : left) thread.join();
    m.run(session, 3);
    CHECK_FALSE(sv.should_stop());
  });
  CHECK(sv.stop_reason().cause == StopCause::kRequested);
  CHECK(latest_checkpoint(dir.path()) == dir / "model.ckpt-3");
}

TEST_CASE(
    "a stop on a thread of the run is refused, asks for the stop, and the step is saved by the run's own") {
  const ScratchDirectory dir;
  const LoggedLines log;
  CountingModel m;
  Supervisor sv(m.g, {.logdir = dir.path()});
  std::string what;
  sv.managed_session([&](Session& session) {
    m.run(session, 2);
    sv.loop(3600, [&] {
      what = what_of([&] { sv.stop(); });
      CHECK(count(events_in(dir.path()), "STOP") == 0);
    });
    sv.wait_for_stop();
  });
  CHECK(what == "Coordinator: thread 'loop' would wait for its own end in join()");
  CHECK(latest_checkpoint(dir.path()) == dir / "model.ckpt-2");
  CHECK(count(events_in(dir.path()), "STOP") == 1);
}

TEST_CASE("a thread that does not end is a warning with its name after a clean run, an error if strict") {
  for (const bool strict : {false, true}) {
    const LoggedLines log;
    ManualClock clock;
    Door door;
    door.shut();
    CoordinatedThread sleeper;
    CountingModel m;
    Supervisor sv(m.g, {.stop_grace_secs = 1, .strict_threads = strict, .clock = &clock});
    const std::string what = what_of([&] {
      const Time passes(clock, log);
      sv.managed_session(
          [&](Session&) { sleeper = sv.coord().start_thread("sleeper", [&] { door.pass(); }); });
    });
    const std::string line =
        "Coordinator: stopped with threads still running after 1 s: 'sleeper' (does not say what it does)";
    CHECK(what == (strict ? line : ""));
    CHECK(log.has("warning: " + line) != strict);
    door.open();
    sleeper.join();
  }
}

TEST_CASE("after a signal threads have five seconds, so that the last step is saved in time") {
  const LoggedLines log;
  ManualClock clock;
  Door door;
  door.shut();
  CoordinatedThread sleeper;
  CountingModel m;
  Supervisor sv(m.g, {.handle_signals = false, .clock = &clock});
  {
    const Time passes(clock, log);
    sv.managed_session([&](Session&) {
      sleeper = sv.coord().start_thread("sleeper", [&] { door.pass(); });
      sv.request_stop(StopReason{.cause = StopCause::kSignal, .text = "received SIGTERM", .signal = 15});
    });
  }
  CHECK(log.has("stopped with threads still running after 5 s: 'sleeper'"));
  door.open();
  sleeper.join();
}

TEST_CASE("a save that runs when the signal comes may take longer, and the last step is saved after it") {
  const ScratchDirectory dir;
  const LoggedLines log;
  ManualClock clock;
  TroubledFiles files;
  files.door.shut();
  std::jthread opens([&] {
    until([&] { return log.has("stopped with threads still running after 5 s: "); });
    files.door.open();
  });
  CountingModel m;
  Supervisor sv(m.g, {.logdir = dir.path(),
                      .save_summaries_secs = 0,
                      .stop_grace_secs = 1e6,
                      .handle_signals = false,
                      .clock = &clock,
                      .file_system = &files});
  {
    const Time passes(clock, log);
    sv.managed_session([&](Session& session) {
      until([&] { return files.saves == 1; });
      m.run(session, 3);
      sv.request_stop(StopReason{.cause = StopCause::kSignal, .text = "received SIGTERM", .signal = 15});
    });
  }
  opens.join();
  join_stragglers(sv);
  CHECK(checkpoints_in(dir.path()) == std::vector<std::string>{"model.ckpt-0", "model.ckpt-3"});
}

TEST_CASE("after a signal the step is saved though the disk of the events hangs") {
  const ScratchDirectory dir;
  const LoggedLines log;
  StuckFileSystem files(real_file_system());
  CountingModel m;
  const auto saver = std::make_shared<Saver>(m.g);
  const Operation init = initialize_global_variables(m.g);
  const auto writer = std::make_shared<FileWriter>(dir.path(), FileWriterOptions{.files = &files});
  StepSaver steps(saver, dir / "model.ckpt", m.step.value(), writer);
  Session session(m.g);
  session.run(init);
  m.run(session, 2);
  files.hang();
  writer->scalar("loss", 1, 2);
  Coordinator coord;
  const StopSignals signals(coord);
  ::raise(SIGTERM);
  CHECK(steps.save(session));
  CHECK(latest_checkpoint(dir.path()) == dir / "model.ckpt-2");
  CHECK_FALSE(log.has("warning: "));  // of events that were waited for
  files.go_on();
  coord.wait_for_stop();
}

TEST_CASE("nothing waits for the grace period when no thread runs") {
  const LoggedLines log;
  ManualClock clock;  // stands still
  CountingModel m;
  Supervisor sv(m.g, {.clock = &clock});
  sv.managed_session([&](Session& session) { m.run(session, 1); });
  CHECK(clock.steady_nanos() == 0);
}

TEST_CASE("a stop ends a step that waits for input, which is no error, and the step before it is saved") {
  const ScratchDirectory dir;
  const LoggedLines log;
  CountingModel m;
  const FIFOQueue queue(m.g, 3, {DType::kFloat}, {.shapes = {{}}});
  const Output wait = queue.dequeue().components()[0];
  Supervisor sv(m.g, {.logdir = dir.path()});
  sv.managed_session([&](Session& session) {
    m.run(session, 2);
    sv.loop(3600, [&] { sv.request_stop(); });
    while (!sv.should_stop()) session.run({wait, m.train});
  });
  CHECK(sv.stop_reason().cause == StopCause::kRequested);
  CHECK(checkpoints_in(dir.path()).back() == "model.ckpt-2");
}

TEST_CASE("rounds of stopping while a step waits leave no thread and no file, and each ends") {
  const Held before = held();
  const LoggedLines log;
  CountingModel m;
  const FIFOQueue queue(m.g, 3, {DType::kFloat}, {.shapes = {{}}});
  const Output wait = queue.dequeue().components()[0];
  Supervisor sv(m.g, {.handle_signals = false});
  for (int round = 0; round < kRounds; ++round) {
    std::shared_ptr<LooperThread> looper;
    sv.managed_session([&](Session& session) {
      looper = sv.loop(std::nullopt, [&] { sv.request_stop(); });
      session.run(wait);
      FAIL("the step got an element");
    });
    CHECK_FALSE(looper->thread().alive());
  }
  check_nothing_left(before);
}

TEST_CASE("queue runners of the graph feed the run, and the end of their input is its end") {
  const ScratchDirectory dir;
  const LoggedLines log;
  CountingModel m;
  const Output number =
      range_input_producer(m.g, 5, {.num_epochs = 2, .shuffle = false}).dequeue().components()[0];
  Supervisor sv(m.g, {.logdir = dir.path()});
  sv.managed_session([&](Session& session) {
    while (!sv.should_stop()) session.run({number, m.train});
  });
  CHECK(sv.stop_reason().cause == StopCause::kInputExhausted);
  CHECK(sv.stop_reason().text.find("is closed and has insufficient elements") != std::string::npos);
  CHECK(latest_checkpoint(dir.path()) == dir / "model.ckpt-10");
}
