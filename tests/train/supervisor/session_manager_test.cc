// SessionManager: what a start does, in which order, and what it says when it cannot.
#include "train/supervisor/session_manager.h"

#include <doctest/doctest.h>

#include <fstream>
#include <functional>
#include <limits>
#include <thread>

#include "graph/graph.h"
#include "ops/ops.h"
#include "tests/graph/scratch_directory.h"
#include "tests/graph/thrown.h"
#include "tests/graph/until.h"
#include "tests/train/supervisor/logged_lines.h"
#include "train/train.h"

using namespace runnel;

namespace {

// A global variable, a local one that starts at its double, and all that a start needs.
struct Model {
  Graph g;
  Variable a = variable(g, 1.0f, "a");
  Variable copy =
      variable(a.value() * 2.0f, "copy", {.trainable = false, .collections = {keys::kLocalVariables}});
  Operation init = initialize_global_variables(g), local = initialize_local_variables(g);
  Output ready = report_uninitialized_variables(g);
  Saver saver{g};
  SessionManager manager(SessionManagerOptions o = {}) {
    o.local_init_op = local;
    o.ready_op = ready;
    return SessionManager(g, o);
  }
};

// Moves a clock on whenever somebody waits.
std::jthread passing_time(ManualClock& clock, double step) {
  return std::jthread([&clock, step](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      if (clock.waiting() > 0) clock.advance(step);
      std::this_thread::yield();
    }
  });
}

}  // namespace

TEST_CASE("a fresh start runs init_op, then init_fn, then local_init_op, then asks ready_op") {
  Model m;
  const auto session = m.manager().prepare_session(
      {.init_op = m.init, .saver = &m.saver, .init_fn = [&](Session& s) { s.run(assign(m.a, 5.0f)); }});
  CHECK(session->get<float>(m.a) == 5);
  CHECK(session->get<float>(m.copy) == 10);
}

TEST_CASE("a start from a checkpoint runs neither init_op nor init_fn, but local_init_op") {
  const ScratchDirectory dir;
  Model m;
  const auto first = m.manager().prepare_session({.init_op = m.init});
  first->run(assign(m.a, 7.0f));
  m.saver.save(*first, dir / "m", {.global_step = 3});
  const PreparedSession second = m.manager().prepare(
      {.init_op = m.init, .saver = &m.saver, .checkpoint_dir = dir.path(), .init_fn = [](Session&) {
         FAIL("init_fn ran");
       }});
  CHECK(second.restored_from == dir / "m-3");
  CHECK(second.session->get<float>(m.a) == 7);
  CHECK(second.session->get<float>(m.copy) == 14);
}

TEST_CASE("a checkpoint given by its name is restored, and a directory beside it is refused") {
  const ScratchDirectory dir;
  Model m;
  const auto first = m.manager().prepare_session({.init_op = m.init});
  const std::string saved = m.saver.save(*first, dir / "m");
  CHECK(m.manager().prepare({.saver = &m.saver, .checkpoint_filename_with_path = saved}).restored_from ==
        saved);
  CHECK_THROWS_AS((void)m.manager().prepare(
                      {.saver = &m.saver, .checkpoint_dir = "d", .checkpoint_filename_with_path = saved}),
                  InvalidArgument);
}

TEST_CASE("a start from the beginning where a checkpoint is named, but gone, is a warning") {
  const ScratchDirectory dir;
  Model m;
  const PrepareSessionOptions start{.init_op = m.init, .saver = &m.saver, .checkpoint_dir = dir.path()};
  const LoggedLines log;
  (void)m.manager().prepare_session(start);
  CHECK_FALSE(log.has("from the beginning"));
  std::ofstream(dir / "checkpoint") << "model_checkpoint_path: \"m-1\"\n";
  CHECK(m.manager().prepare_session(start)->get<float>(m.a) == 1);
  CHECK(log.has("warning: training starts from the beginning, not where it was: "));
  CHECK(log.has("m-1', which does not exist"));
}

TEST_CASE(
    "a damaged checkpoint is passed over with a line in the log, and if all are damaged that is an error") {
  const ScratchDirectory dir;
  Model m;
  const auto first = m.manager().prepare_session({.init_op = m.init});
  for (const int step : {1, 2}) {
    first->run(assign(m.a, static_cast<float>(step)));
    m.saver.save(*first, dir / "m", {.global_step = step});
  }
  const PrepareSessionOptions start{.init_op = m.init, .saver = &m.saver, .checkpoint_dir = dir.path()};
  std::ofstream(dir / "m-2.data-00000-of-00001") << "junk";
  const LoggedLines log;
  CHECK(m.manager().prepare_session(start)->get<float>(m.a) == 1);
  CHECK(log.has("m-2' is skipped"));
  std::ofstream(dir / "m-1.index") << "junk";
  CHECK_THROWS_AS((void)m.manager().prepare_session(start), DataLoss);
}

TEST_CASE(
    "a checkpoint of another graph is refused with logdir, checkpoint, missing names and both ways out") {
  const ScratchDirectory dir;
  Model old;
  old.saver.save(*old.manager().prepare_session({.init_op = old.init}), dir / "m", {.global_step = 1});
  Model m;
  variable(m.g, 3.0f, "extra/w");
  variable(m.g, 4.0f, "extra/b");
  Saver saver(m.g, {.name = "whole"});
  PrepareSessionOptions start{.saver = &saver, .checkpoint_dir = dir.path()};
  const std::string what = what_of([&] { (void)m.manager().prepare_session(start); });
  CHECK(what.starts_with(
      cat("found checkpoint '", dir / "m-1", "' in logdir '", dir.path(),
          "', but the graph has 2 variables that are not in it: extra/b, extra/w; go on with "
          "what fits by a partial restore (.restore = {.partial = true}), or train anew in "
          "another logdir; ")));
}

TEST_CASE("a partial restore goes on with what the checkpoint has, and initialises the rest") {
  const ScratchDirectory dir;
  Model old;
  const auto first = old.manager().prepare_session({.init_op = old.init});
  first->run(assign(old.a, 6.0f));
  old.saver.save(*first, dir / "m");
  Model m;
  const Variable extra = variable(m.g, 3.0f, "extra");
  Saver saver(m.g, {.name = "whole"});
  const auto session = m.manager().prepare_session(
      {.saver = &saver, .checkpoint_dir = dir.path(), .restore = {.partial = true}});
  CHECK(session->get<float>(m.a) == 6);
  CHECK(session->get<float>(extra) == 3);
}

TEST_CASE(
    "after a restore the variables outside the saver start at their initial values, and the log names them") {
  const ScratchDirectory dir;
  Graph g;
  const Variable a1 = variable(g, 1.0f, "a1"), a2 = variable(g, 2.0f, "a2");
  Saver saver(g, {a1});
  const Operation init = initialize_global_variables(g);
  const SessionManager manager(g, {.ready_op = report_uninitialized_variables(g)});
  const PrepareSessionOptions start{.init_op = init, .saver = &saver, .checkpoint_dir = dir.path()};
  const auto first = manager.prepare_session(start);
  first->run({assign(a1, 5.0f), assign(a2, 9.0f)});
  saver.save(*first, dir / "m");
  const LoggedLines log;
  const auto second = manager.prepare_session(start);
  CHECK(second->get<float>(a1) == 5);
  CHECK(second->get<float>(a2) == 2);
  CHECK(log.has("which start at their initial values: a2"));
}

TEST_CASE("variables without a value are initialised after those that they depend on, on a finalized graph") {
  const ScratchDirectory dir;
  Graph g({.seed = 1});
  const Variable saved = variable(g, 1.0f, "saved");
  const Variable b = variable(random_uniform<float>(g, {}, 0.0f, 1.0f), "b");
  const Variable c = variable(g, 0.0f, "c");
  const Output twice = b.value() * 2.0f + saved.value();  // reads b, and not its initial value
  c.start_as(Operation(assign(c, twice).node()), twice);
  Saver saver(g, {saved});
  const Operation init = initialize_global_variables(g);
  g.finalize();
  const SessionManager manager(g);
  const auto first = manager.prepare_session({.init_op = init});
  saver.save(*first, dir / "m");
  const auto second = manager.prepare_session({.saver = &saver, .checkpoint_dir = dir.path()});
  CHECK(second->get<float>(c) == second->get<float>(b) * 2.0f + 1.0f);
}

TEST_CASE("a model that nothing initialises is refused, and so is one that is not ready afterwards") {
  Model m;
  const SessionManager bare(m.g);
  CHECK_THROWS_AS((void)bare.prepare_session(), FailedPrecondition);
  CHECK(what_of(
            [&] { (void)SessionManager(m.g, {.ready_op = m.ready}).prepare_session({.init_op = m.init}); }) ==
        "Init operations did not make model ready. Init op: init, init fn: none, local_init_op: none, error: "
        "Variables not initialized: copy");
  const auto manager = m.manager({.ready_for_local_init_op = report_uninitialized_variables(m.g, {m.a})});
  CHECK(what_of([&] { (void)manager.prepare_session({.init_fn = [](Session&) {}}); }) ==
        "Init operations did not make model ready for local_init. Init op: none, init fn: given, "
        "local_init_op: "
        "init_1, error: Variables not initialized: a");
}

TEST_CASE("recovering does not initialise: it says whether the model was restored and is ready") {
  const ScratchDirectory dir;
  Model m;
  const SessionManager manager(m.g, {.ready_op = report_uninitialized_variables(m.g, {m.a})});
  const RecoverSessionOptions from{.saver = &m.saver, .checkpoint_dir = dir.path()};
  const RecoveredSession none = manager.recover_session(from);
  CHECK_FALSE(none.recovered);
  CHECK_THROWS_AS((void)none.session->get<float>(m.a), FailedPrecondition);
  m.saver.save(*manager.prepare_session({.init_op = m.init}), dir / "m");
  CHECK(manager.recover_session(from).recovered);
  const LoggedLines log;
  CHECK_FALSE(SessionManager(m.g, {.ready_op = m.ready}).recover_session(from).recovered);
  CHECK(log.has("the restored model is not ready to train: Variables not initialized: copy"));
}

TEST_CASE("waiting for a checkpoint looks again after each recovery_wait_secs, and initialises in the end") {
  const ScratchDirectory dir;
  Model m;
  ManualClock clock;
  const LoggedLines log;
  std::jthread time = passing_time(clock, 30);
  const auto session = m.manager({.clock = &clock})
                           .prepare_session({.init_op = m.init,
                                             .saver = &m.saver,
                                             .checkpoint_dir = dir.path(),
                                             .wait_for_checkpoint = true,
                                             .max_wait_secs = 90});
  time = {};  // stands still again
  CHECK(session->get<float>(m.a) == 1);
  CHECK(clock.steady_nanos() == 90'000'000'000);
  CHECK(log.has(cat("Waiting for checkpoint to be available in '", dir.path(), "'.")));
}

TEST_CASE("a checkpoint that comes while it is waited for is restored") {
  const ScratchDirectory dir;
  Model m;
  ManualClock clock;
  std::jthread other([&] {
    until([&] { return clock.waiting() > 0; });
    Session session(m.g);
    session.run(m.init);
    session.run(m.local);
    m.saver.save(session, dir / "m");
    clock.advance(30);
  });
  const auto manager = m.manager({.clock = &clock});
  CHECK(manager.prepare({.saver = &m.saver, .checkpoint_dir = dir.path(), .wait_for_checkpoint = true})
            .restored_from == dir / "m");
  other.join();
}

TEST_CASE("waiting ends with Cancelled as soon as the coordinator stops, saying for what and why") {
  const ScratchDirectory dir;
  Model m;
  ManualClock clock;
  Coordinator coord({.clock = &clock});
  std::jthread other([&] {
    until([&] { return clock.waiting() > 0; });
    coord.request_stop(StopReason{.cause = StopCause::kSignal, .text = "received SIGTERM", .signal = 15});
  });
  const std::string what = what_of([&] {
    (void)m.manager({.clock = &clock})
        .prepare_session(
            {.saver = &m.saver, .checkpoint_dir = dir.path(), .wait_for_checkpoint = true, .coord = &coord});
  });
  other.join();
  CHECK(what == cat("no longer waiting for a checkpoint in '", dir.path(), "': received SIGTERM"));
  CHECK(clock.steady_nanos() == 0);
}

TEST_CASE("an init_op that waits for input ends when the coordinator stops") {
  Graph g;
  const FIFOQueue queue(g, 1, {DType::kFloat}, {.shapes = {{}}});
  const Operation init(queue.dequeue().components()[0].node());
  Coordinator coord;
  LooperThread::loop(coord, std::nullopt, [&] { coord.request_stop(); });
  CHECK_THROWS_AS((void)SessionManager(g).prepare_session({.init_op = init, .coord = &coord}), Cancelled);
  coord.join();
}

TEST_CASE("who is not chief waits for the model, saying for what, and gives up after max_wait_secs") {
  Model m;
  ManualClock clock;
  const LoggedLines log;
  std::jthread time = passing_time(clock, 30);
  const auto manager =
      m.manager({.ready_for_local_init_op = report_uninitialized_variables(m.g, {m.a}), .clock = &clock});
  const std::string what = what_of([&] { (void)manager.wait_for_session({.max_wait_secs = 100}); });
  time = {};  // stands still again
  CHECK(what.starts_with("Session was not ready after waiting 100 secs. "));
  CHECK(log.has("Waiting for model to be ready. Ready_for_local_init_op: Variables not initialized: a"));
  CHECK(clock.steady_nanos() == 90'000'000'000);
}

TEST_CASE(
    "with max_wait_secs below recovery_wait_secs the first failure is final, and what is ready is given at "
    "once") {
  Model m;
  ManualClock clock;
  CHECK_THROWS_AS((void)m.manager({.clock = &clock}).wait_for_session({.max_wait_secs = 29}),
                  DeadlineExceeded);
  const SessionManager unchecked(m.g, {.clock = &clock});
  CHECK(unchecked.wait_for_session({.max_wait_secs = 0}));
}

TEST_CASE("nobody waits for a time that is no number") {
  Model m;
  Coordinator stopped;
  stopped.request_stop();
  const SessionManager manager = m.manager();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_WITH_AS((void)manager.wait_for_session({.max_wait_secs = kNan, .coord = &stopped}),
                       "SessionManager: max_wait_secs is NaN; give seconds, or infinity to wait without end",
                       InvalidArgument);
  CHECK_THROWS_AS((void)manager.prepare_session({.max_wait_secs = kNan, .coord = &stopped}), InvalidArgument);
  CHECK_THROWS_AS((void)manager.recover_session({.max_wait_secs = kNan, .coord = &stopped}), InvalidArgument);
}

TEST_CASE("a remote master is unimplemented, and arguments that say nothing are refused") {
  Model m;
  CHECK(what_of([&] { (void)m.manager().prepare_session({.master = "grpc://host:1", .init_op = m.init}); }) ==
        "master is 'grpc://host:1': remote targets are not there yet; give '' to train in this process");
  CHECK_THROWS_AS(SessionManager(m.g, {.ready_for_local_init_op = m.ready}), InvalidArgument);
  CHECK_THROWS_AS(SessionManager(m.g, {.recovery_wait_secs = 0}), InvalidArgument);
}
