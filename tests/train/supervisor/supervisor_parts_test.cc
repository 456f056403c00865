// Supervisor: which operations it takes from where, and what is told of those who are not chief.
#include <doctest/doctest.h>

#include "tests/graph/scratch_directory.h"
#include "tests/train/supervisor/logged_lines.h"
#include "tests/train/supervisor/supervised_model.h"

using namespace runnel;

TEST_CASE("defaults are made with TensorFlow's names and put into their collections") {
  CountingModel m;
  Supervisor sv(m.g);
  CHECK(sv.ready_op().node().name().starts_with("report_uninitialized_variables/"));
  CHECK(sv.init_op().name() == "init");
  CHECK(sv.local_init_op().name() == "group_deps");
  CHECK(sv.summary_op().name() == "Merge/MergeSummary:0");
  CHECK(sv.global_step() == m.step.value());
  CHECK_FALSE(sv.ready_for_local_init_op());
  for (const char* key : {keys::kReadyOp, keys::kInitOp, keys::kLocalInitOp, keys::kSavers, keys::kSummaryOp})
    CHECK(m.g.collection(key).size() == 1);
  CHECK(sv.saver()->nodes().save.node().name().starts_with("save/"));
}

TEST_CASE("what the collections hold is taken, the first of several with a line in the log") {
  const LoggedLines log;
  CountingModel m;
  const Operation init = no_op(m.g, {.name = "mine"});
  const Output ready = report_uninitialized_variables(m.g, {.name = "only"});
  m.g.add_to_collection(keys::kInitOp, init);
  m.g.add_to_collection(keys::kInitOp, no_op(m.g));
  m.g.add_to_collection(keys::kReadyForLocalInitOp, ready);
  const Saver saver(m.g, {m.w}, {.name = "mine_too"});
  m.g.add_to_collection(keys::kSavers, saver.saver_def());
  Supervisor sv(m.g);
  CHECK(sv.init_op() == init);
  CHECK(sv.ready_for_local_init_op() == ready);
  CHECK(sv.saver()->saver_def() == saver.saver_def());
  CHECK(log.has("the collection 'init_op' holds 2 items; the first is taken"));
}

TEST_CASE("none is not the default: nothing is made, and nothing taken from a collection") {
  CountingModel m;
  m.g.add_to_collection(keys::kInitOp, no_op(m.g));
  const std::size_t before = m.g.size();
  Supervisor sv(m.g, {.ready_op = none,
                      .ready_for_local_init_op = none,
                      .init_op = none,
                      .local_init_op = none,
                      .summary_op = none,
                      .saver = none,
                      .global_step = none});
  CHECK(m.g.size() == before);
  CHECK_FALSE(sv.ready_op());
  CHECK_FALSE(sv.init_op());
  CHECK_FALSE(sv.local_init_op());
  CHECK_FALSE(sv.summary_op());
  CHECK_FALSE(sv.saver());
  CHECK_FALSE(sv.global_step());
}

TEST_CASE("what is given is taken, and pointers are the caller's") {
  const ScratchDirectory dir;
  const LoggedLines log;
  CountingModel m;
  Saver saver(m.g, {m.step, m.w});
  const SessionManager manager(m.g);
  const auto writer = std::make_shared<FileWriter>(dir / "elsewhere");
  Supervisor sv(m.g, {.logdir = dir.path(),
                      .saver = &saver,
                      .checkpoint_basename = "mine",
                      .session_manager = &manager,
                      .summary_writer = writer});
  CHECK(sv.saver() == &saver);
  CHECK(&sv.session_manager() == &manager);
  CHECK(sv.save_path() == dir / "mine");
  sv.managed_session([&](Session& session) { m.run(session, 1); });
  CHECK(checkpoints_in(dir.path()).back() == "mine-1");
  CHECK(count(events_in(dir / "elsewhere"), "STOP") == 1);
}

TEST_CASE("a variable called global_step counts if it is an integer, and else is left with a warning") {
  const LoggedLines log;
  Graph g;
  const Variable step = variable(g, std::int32_t{7}, "global_step");
  Supervisor sv(g);
  CHECK(sv.global_step() == step.value());
  CHECK(g.variables(keys::kGlobalStep).size() == 1);
  Graph other;
  variable(other, 7.0f, "global_step");
  CHECK_FALSE(Supervisor(other).global_step());
  CHECK(log.has("'global_step' is float, not an int type"));
}

TEST_CASE("who is not chief needs variables with devices, writes nothing, and has no services") {
  const ScratchDirectory dir;
  const LoggedLines log;
  CountingModel m;
  CHECK_THROWS_AS(Supervisor(m.g, {.is_chief = false}), InvalidArgument);
  Graph g;
  {
    const DeviceScope device(g, "/cpu:0");
    variable(g, 1.0f, "w");
  }
  ManualClock clock;
  Supervisor sv(g, {.ready_op = none, .is_chief = false, .logdir = dir / "logs", .clock = &clock});
  CHECK(sv.save_path().empty());
  CHECK(sv.save_model_secs() == 0);
  CHECK_FALSE(sv.summary_writer());
  sv.managed_session(
      [&](Session& session) { CHECK_THROWS_AS(sv.start_standard_services(session), FailedPrecondition); });
  CHECK_FALSE(real_file_system().exists(dir / "logs"));
}

TEST_CASE("arguments that mean nothing are refused") {
  CountingModel m;
  CHECK_THROWS_AS(Supervisor(m.g, {.save_summaries_secs = -1}), InvalidArgument);
  CHECK_THROWS_AS(Supervisor(m.g, {.save_model_secs = std::nan("")}), InvalidArgument);
  CHECK_THROWS_AS(Supervisor(m.g, {.checkpoint_basename = ""}), InvalidArgument);
  CHECK_THROWS_AS(Supervisor(m.g, {.checkpoint_basename = "a/b"}), InvalidArgument);  // would not be found
  m.g.add_to_collection(keys::kSummaryOp, std::int64_t{1});
  CHECK_THROWS_WITH_AS(Supervisor(m.g, {}),
                       "Supervisor: the first item of the collection 'summary_op' is no tensor",
                       InvalidArgument);
}

TEST_CASE("without a graph it is the default graph's") {
  reset_default_graph();
  const Variable w = variable(default_graph(), 1.0f, "w");
  Supervisor sv;
  const LoggedLines log;
  sv.managed_session([&](Session& session) { CHECK(session.get<float>(w) == 1); });
  reset_default_graph();
}
