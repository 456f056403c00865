// Supervisor: how a run begins, what its services do, and how it ends.
#include "train/supervisor/supervisor.h"

#include <doctest/doctest.h>

#include "tests/graph/held.h"
#include "tests/graph/scratch_directory.h"
#include "tests/graph/thrown.h"
#include "tests/train/supervisor/logged_lines.h"
#include "tests/train/supervisor/supervised_model.h"

using namespace runnel;
using namespace std::chrono_literals;

namespace {

using Lines = std::vector<std::string>;

// Until the checkpoint service has written its first file.
void until_saved(const std::string& directory) {
  until([&] { return checkpoints_in(directory).size() == 1; });
}

// Until the first summary and the first checkpoint are taken: a step before that would be in them.
void until_started(const LoggedLines& log, const std::string& directory) {
  until([&] { return log.has("Recording summary"); });
  until_saved(directory);
}

}  // namespace

TEST_CASE("a run is initialised, saved at its first and last step, and logged from START to STOP") {
  const ScratchDirectory dir;
  const LoggedLines log;
  CountingModel m;
  Supervisor sv(m.g, {.logdir = dir / "logs/deep"});
  sv.managed_session([&](Session& session) {
    until_started(log, dir / "logs/deep");
    m.run(session, 3);
  });
  CHECK(checkpoints_in(dir / "logs/deep") == Lines{"model.ckpt-0", "model.ckpt-3"});
  Lines events = events_in(dir / "logs/deep");
  const Lines begin(events.begin(), events.begin() + 4), end(events.end() - 2, events.end());
  CHECK(begin == Lines{"version", "START 0", "graph", "meta graph"});
  CHECK(end == Lines{"CHECKPOINT 3 model.ckpt", "STOP 0"});
  CHECK(count(events, "loss 0") == 1);
  CHECK(load_variable(dir / "logs/deep", "w").scalar<float>() == 1.5f);
  CHECK(sv.stop_reason().cause == StopCause::kRequested);
  CHECK(sv.stop_reason().exit_code() == 0);
}

TEST_CASE("services of 120 and 600 seconds act on their grid of times") {
  const ScratchDirectory dir;
  const LoggedLines log;
  ManualClock clock;
  CountingModel m;
  Supervisor sv(m.g, {.logdir = dir.path(), .clock = &clock});
  sv.managed_session([&](Session& session) {
    until_started(log, dir.path());
    for (int minute = 2; minute <= 12; minute += 2) {
      m.run(session, 60);
      clock.advance(120);
      until([&] { return count(log.all(), "Recording summary") == 1 + minute / 2; });
      until([&] { return checkpoints_in(dir.path()).size() == (minute < 10 ? 1 : 2); });
    }
  });
  const Lines events = events_in(dir.path());
  CHECK(count(events, "loss ") == 7);
  CHECK(count(events, "CHECKPOINT ") == 3);  // at 0, after 600 s, at the end
}

TEST_CASE("a program that starts again goes on from the last step, in a new event file with START there") {
  const ScratchDirectory dir;
  const LoggedLines log;
  int inits = 0;
  for (const int start : {0, 4}) {
    CountingModel m;
    Supervisor sv(m.g, {.logdir = dir.path(), .init_fn = [&](Session&) { ++inits; }});
    sv.managed_session([&](Session& session) {
      CHECK(session.get<std::int64_t>(m.step) == start);
      m.run(session, 4);
    });
  }
  CHECK(inits == 1);
  CHECK(checkpoints_in(dir.path()).back() == "model.ckpt-8");
  const Lines events = events_in(dir.path());
  const auto second = std::find(events.begin() + 1, events.end(), "version");
  CHECK(Lines(second, second + 5) == Lines{"version", "START 4", "START 4", "graph", "meta graph"});
  CHECK(std::find(second, events.end(), "CHECKPOINT 4 model.ckpt") == events.end());
}

TEST_CASE(
    "one supervisor has one run after the other, each from the newest checkpoint and in a file of its own") {
  const ScratchDirectory dir;
  const LoggedLines log;
  CountingModel m;
  Supervisor sv(m.g, {.logdir = dir.path()});
  for (const int start : {0, 5, 10}) {
    CHECK_FALSE((start > 0 && sv.stop_reason().cause != StopCause::kRequested));
    sv.managed_session([&](Session& session) {
      CHECK_FALSE(sv.should_stop());
      CHECK(session.get<std::int64_t>(m.step) == start);
      m.run(session, 5);
    });
  }
  CHECK(count(events_in(dir.path()), "version") == 3);
  CHECK(count(events_in(dir.path()), "STOP") == 3);
}

TEST_CASE("the checkpoint that the state file names is taken, and damaged ones are passed over") {
  const ScratchDirectory dir;
  const LoggedLines log;
  CountingModel m;
  Supervisor sv(m.g, {.logdir = dir.path()});
  const auto steps = [&](int steps) { sv.managed_session([&](Session& session) { m.run(session, steps); }); };
  const auto start = [&] {
    std::int64_t step = 0;
    sv.managed_session([&](Session& session) { step = session.get<std::int64_t>(m.step); });
    return step;
  };
  for (int i = 0; i < 3; ++i) steps(2);
  update_checkpoint_state(dir.path(), dir / "model.ckpt-4",
                          {.all_model_checkpoint_paths = {dir / "model.ckpt-2", dir / "model.ckpt-4"}});
  CHECK(start() == 4);
  write_file_atomically(real_file_system(), dir / "model.ckpt-4.index", "junk");
  CHECK(start() == 2);
}

TEST_CASE("the last step is saved exactly once, whatever the service saved before") {
  const ScratchDirectory dir;
  ManualClock clock;
  CountingModel m;
  Supervisor sv(m.g,
                {.logdir = dir.path(), .save_summaries_secs = 0, .save_model_secs = 10, .clock = &clock});
  const LoggedLines log;
  sv.managed_session([&](Session& session) {
    until_saved(dir.path());
    m.run(session, 3);
    clock.advance(10);
    until([&] { return checkpoints_in(dir.path()).size() == 2; });
    const std::uint64_t runs = session.stats().runs;
    clock.advance(10);  // no step since
    until([&] { return session.stats().runs > runs || count(log.all(), "Saving checkpoint") > 2; });
  });
  CHECK(count(log.all(), "Saving checkpoint") == 2);
  CHECK(count(events_in(dir.path()), "CHECKPOINT") == 2);
  sv.managed_session([&](Session& session) { m.run(session, 1); });
  CHECK(count(log.all(), "Saving checkpoint") == 3);
  CHECK(checkpoints_in(dir.path()) == Lines{"model.ckpt-0", "model.ckpt-3", "model.ckpt-4"});
}

TEST_CASE("which services run follows from the arguments") {
  struct Row {
    const char* what;
    std::function<void(SupervisorOptions&)> change;
    bool summary, counter, checkpoint;
    int threads;  // of these, of the watchdog and of the writer
  };
  const Row rows[] = {
      {"default", [](SupervisorOptions&) {}, true, true, true, 5},
      {"no summary_op", [](SupervisorOptions& o) { o.summary_op = none; }, false, true, true, 4},
      {"no summary period", [](SupervisorOptions& o) { o.save_summaries_secs = 0; }, false, false, true, 3},
      {"no model period", [](SupervisorOptions& o) { o.save_model_secs = 0; }, true, true, false, 4},
      {"no saver", [](SupervisorOptions& o) { o.saver = none; }, true, true, false, 4},
      {"no global step", [](SupervisorOptions& o) { o.global_step = none; }, true, false, true, 4},
      {"no writer", [](SupervisorOptions& o) { o.summary_writer = none; }, false, false, true, 2},
      {"no logdir", [](SupervisorOptions& o) { o.logdir = ""; }, false, false, false, 0}};
  for (const Row& row : rows) {
    CAPTURE(row.what);
    const ScratchDirectory dir;
    const LoggedLines log;
    ManualClock clock;
    CountingModel m;
    SupervisorOptions options{.logdir = dir.path(), .handle_signals = false, .clock = &clock};
    row.change(options);
    const Held before = held();
    Supervisor sv(m.g, options);
    const auto body = [&](Session&) {
      until(
          [&] { return log.has("Recording summary") >= row.summary && log.has("Saving") >= row.checkpoint; });
      until([&] {
        clock.advance(120);
        return log.has("global_step/sec") >= row.counter;
      });
      check_threads(before.threads + row.threads);  // and no other service, which may be slow to speak
    };
    sv.managed_session(body,
                       {.config = {.intra_op_parallelism_threads = 1, .inter_op_parallelism_threads = 1}});
    CHECK(log.has("Recording summary") == row.summary);
    CHECK(log.has("global_step/sec") == row.counter);
    CHECK(checkpoints_in(dir.path()).empty() != row.checkpoint);
  }
}

TEST_CASE("without a global step checkpoints have no number, and the last values are saved") {
  const ScratchDirectory dir;
  const LoggedLines log;
  CountingModel m;
  Supervisor sv(m.g, {.logdir = dir.path(), .global_step = none});
  sv.managed_session([&](Session& session) { m.run(session, 2); });
  CHECK(checkpoints_in(dir.path()) == Lines{"model.ckpt"});
  CHECK(load_variable(dir / "model.ckpt", "w").scalar<float>() == 1);
}

TEST_CASE(
    "an error of the body is thrown when threads have ended and the session is closed, and nothing is "
    "saved") {
  const ScratchDirectory dir;
  const LoggedLines log;
  CountingModel m;
  Supervisor sv(m.g, {.logdir = dir.path()});
  std::shared_ptr<Session> kept;
  std::shared_ptr<LooperThread> looper;
  const auto train = [&] {
    sv.managed_session([&](Session& session) {
      kept = session.share();
      looper = sv.loop(1h, [] {});
      until_started(log, dir.path());
      m.run(session, 2);
      throw std::logic_error("my mistake");
    });
  };
  CHECK_THROWS_WITH_AS(train(), "my mistake", std::logic_error);
  CHECK(kept->closed());
  CHECK_FALSE(looper->thread().alive());
  CHECK(checkpoints_in(dir.path()) == Lines{"model.ckpt-0"});
  CHECK(sv.stop_reason().cause == StopCause::kError);
  CHECK(sv.stop_reason().exit_code() == 1);
}

TEST_CASE("an error of the body counts also when a stop was asked for before") {
  const LoggedLines log;
  CountingModel m;
  Supervisor sv(m.g);
  const auto train = [&] {
    sv.managed_session([&](Session&) {
      sv.request_stop();
      throw InvalidArgument("too late");
    });
  };
  CHECK_THROWS_WITH_AS(train(), "too late", InvalidArgument);
}

TEST_CASE("the end of the input is a normal end, with the step saved, and the reason names it") {
  const ScratchDirectory dir;
  const LoggedLines log;
  CountingModel m;
  Supervisor sv(m.g, {.logdir = dir.path()});
  sv.managed_session([&](Session& session) {
    m.run(session, 2);
    throw OutOfRange("FIFOQueue 'lines' is closed and has no more elements");
  });
  CHECK(checkpoints_in(dir.path()).back() == "model.ckpt-2");
  CHECK(sv.stop_reason().cause == StopCause::kInputExhausted);
  CHECK(sv.stop_reason().text == "input exhausted: FIFOQueue 'lines' is closed and has no more elements");
  CHECK(sv.stop_reason().exit_code() == 0);
}

TEST_CASE("every kind of end has its reason and its exit code") {
  const LoggedLines log;
  CountingModel m;
  Supervisor sv(m.g);
  const auto end_of = [&](StopReason reason) {
    sv.managed_session([&](Session&) { sv.request_stop(reason); }, {});
    return sv.stop_reason();
  };
  CHECK(end_of({.cause = StopCause::kStepsReached, .text = "1000 steps"}).text == "1000 steps");
  CHECK(end_of({.cause = StopCause::kHook, .text = "early stopping"}).exit_code() == 0);
  sv.managed_session([&](Session&) { sv.request_stop(); });
  CHECK(sv.stop_reason().cause == StopCause::kRequested);
  CHECK(sv.stop_reason().text == "a stop was requested");
}

TEST_CASE("a service that fails stops training, and its error is thrown at the end") {
  const ScratchDirectory dir;
  const LoggedLines log;
  ManualClock clock;
  CountingModel m;
  Supervisor sv(m.g, {.logdir = dir.path(), .clock = &clock});
  int calls = 0;
  const auto train = [&] {
    sv.managed_session([&](Session&) {
      sv.loop(1s, [&] {
        if (++calls == 3) throw ResourceExhausted("no space left");
      });
      until([&] {
        clock.advance(1);
        return sv.should_stop();
      });
    });
  };
  CHECK_THROWS_WITH_AS(train(), "no space left", ResourceExhausted);
  CHECK(calls == 3);
  CHECK(log.has("Coordinator: stopping (error): thread 'loop': no space left"));
}

TEST_CASE("Aborted leaves the block, and basic_train_loop begins anew from the newest checkpoint") {
  const ScratchDirectory dir;
  const LoggedLines log;
  CountingModel m;
  Supervisor sv(m.g, {.logdir = dir.path()});
  int calls = 0;
  std::vector<std::int64_t> steps;
  basic_train_loop(sv, [&](Session& session) {
    if (calls == 0) until_saved(dir.path());
    steps.push_back(session.get<std::int64_t>(m.step));
    session.run(m.train);
    if (++calls == 2) throw Aborted("a worker is gone");
    if (calls == 4) sv.request_stop();
  });
  CHECK(steps == std::vector<std::int64_t>{0, 1, 0, 1});
  CHECK(log.has("Restoring parameters from " + dir / "model.ckpt-0"));
  CHECK(checkpoints_in(dir.path()).back() == "model.ckpt-2");
}

TEST_CASE("a loop calls at once and then by the clock, and back to back without an interval") {
  const LoggedLines log;
  ManualClock clock;
  CountingModel m;
  Supervisor sv(m.g, {.clock = &clock});
  std::atomic<int> often = 0, seldom = 0;
  sv.managed_session([&](Session&) {
    sv.loop(std::nullopt, [&] { ++often; });
    sv.loop(1200, [&] { ++seldom; });
    until([&] { return seldom == 1 && often > 100; });
    clock.advance(1199);
    clock.advance(1);
    until([&] { return seldom == 2; });
  });
  CHECK(seldom == 2);
}

TEST_CASE("summaries made by hand go to the supervisor's file, at their step or the session's") {
  const ScratchDirectory dir;
  const LoggedLines log;
  CountingModel m;
  const Output all = summary::merge_all(m.g);
  Supervisor sv(m.g, {.logdir = dir.path(), .summary_op = none});
  sv.managed_session([&](Session& session) {
    m.run(session, 2);
    sv.summary_computed(session, session.run(all));
    sv.summary_computed(session, session.run(all), 100);
  });
  CHECK(count(events_in(dir.path()), "loss 2") == 1);
  CHECK(count(events_in(dir.path()), "loss 100") == 1);
  CountingModel other;
  Supervisor without(other.g);
  Session session(other.g);
  CHECK(what_of([&] { without.summary_computed(session, Tensor::scalar<std::string>("")); }) ==
        "Writing a summary requires a summary writer: give the Supervisor a logdir or a summary_writer");
}

TEST_CASE("the graph is written beside the checkpoints as text, and is finalized") {
  const ScratchDirectory dir;
  const LoggedLines log;
  CountingModel m;
  Supervisor sv(m.g, {.logdir = dir.path()});
  sv.managed_session([](Session&) {});
  Graph read;
  read.import_graph_def(read_file(real_file_system(), dir / "graph.pbtxt"));
  CHECK(read.size() == m.g.size());
  CHECK(m.g.finalized());
}

TEST_CASE("a run by hand is prepared, stopped and saved; the session stays open") {
  const ScratchDirectory dir;
  const LoggedLines log;
  CountingModel m;
  Supervisor sv(m.g, {.logdir = dir.path()});
  const auto session = sv.prepare_or_wait_for_session();
  CHECK(sv.stop_on_exception([&] { m.run(*session, 2); }));
  sv.stop();
  CHECK(sv.wait_for_stop());
  CHECK_FALSE(session->closed());
  CHECK(checkpoints_in(dir.path()).back() == "model.ckpt-2");
  sv.stop();  // nothing runs
  const auto bare = sv.prepare_or_wait_for_session({.start_standard_services = false});
  sv.stop({.close_summary_writer = false});
  sv.summary_writer()->scalar("still", 1);
}
