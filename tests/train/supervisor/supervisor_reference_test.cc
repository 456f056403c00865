// What the guides of the Supervisor say of it, where no other test does: its arguments, queues, a start from
// a model that was trained before, summaries of one's own.
#include <doctest/doctest.h>

#include "tests/graph/scratch_directory.h"
#include "tests/train/supervisor/logged_lines.h"
#include "tests/train/supervisor/supervised_model.h"

using namespace runnel;

TEST_CASE("a Supervisor and its methods have the reference's arguments and defaults") {
  [[maybe_unused]] const SupervisorOptions in_order{.ready_op = none,
                                                    .ready_for_local_init_op = none,
                                                    .is_chief = true,
                                                    .init_op = none,
                                                    .init_feed_dict = {},
                                                    .local_init_op = none,
                                                    .logdir = "",
                                                    .summary_op = none,
                                                    .saver = none,
                                                    .global_step = none,
                                                    .save_summaries_secs = 1,
                                                    .save_model_secs = 1,
                                                    .recovery_wait_secs = 1,
                                                    .stop_grace_secs = 1,
                                                    .checkpoint_basename = "m",
                                                    .session_manager = nullptr,
                                                    .summary_writer = none,
                                                    .init_fn = {},
                                                    .local_init_run_options = {}};
  const SupervisorOptions o;
  CHECK((o.ready_op.is_default() && o.ready_for_local_init_op.is_default() && o.init_op.is_default()));
  CHECK((o.local_init_op.is_default() && o.summary_op.is_default() && o.saver.is_default()));
  CHECK((o.global_step.is_default() && o.summary_writer.is_default()));
  CHECK((o.is_chief && o.init_feed_dict.empty() && o.logdir.empty() && !o.init_fn && !o.session_manager));
  CHECK(o.save_summaries_secs == 120);
  CHECK(o.save_model_secs == 600);
  CHECK(o.recovery_wait_secs == 30);
  CHECK(o.stop_grace_secs == 120);
  CHECK(o.checkpoint_basename == "model.ckpt");
  const ManagedSessionOptions managed;
  CHECK((managed.master.empty() && managed.start_standard_services && managed.close_summary_writer));
  const PrepareOrWaitOptions prepare;
  CHECK((prepare.master.empty() && !prepare.wait_for_checkpoint && prepare.start_standard_services));
  CHECK(prepare.max_wait_secs == 7200);
  const StopOptions stop;
  CHECK((stop.threads.empty() && stop.close_summary_writer && !stop.ignore_live_threads));
}

TEST_CASE("a supervisor starts the queue runners of its graph, and others when asked") {
  const LoggedLines log;
  Graph g;
  const Output number = range_input_producer(g, 3, {.num_epochs = 2, .shuffle = false}).dequeue();
  const FIFOQueue mine(g, 2, {DType::kFloat}, {.shapes = {Shape{}}, .name = "mine"});
  const QueueRunner runner(mine.queue_ref(), {mine.enqueue({constant(g, Tensor::scalar(1.5f))})});
  const Output other = mine.dequeue();
  Supervisor sv(g);
  std::vector<std::int32_t> numbers;
  sv.managed_session([&](Session& session) {
    CHECK(sv.start_queue_runners(session, {runner}).size() >= 1);
    CHECK(session.run(other).scalar<float>() == 1.5f);
    while (!sv.should_stop()) numbers.push_back(session.run(number).scalar<std::int32_t>());
  });
  CHECK(numbers == std::vector<std::int32_t>{0, 1, 2, 0, 1, 2});
  CHECK(sv.stop_reason().cause == StopCause::kInputExhausted);
}

TEST_CASE(
    "a saver of the pre-trained variables starts a model in init_fn, where one of all variables refuses") {
  const ScratchDirectory dir;
  const LoggedLines log;
  {
    Graph old;
    const Variable v1 = variable(old, 1.0f, "v1"), v2 = variable(old, 2.0f, "v2");
    Session session(old);
    session.run(initialize_global_variables(old));
    Saver(old).save(session, dir / "old/model");
  }
  for (const int start : {0, 1}) {
    Graph g;
    const Variable step = get_or_create_global_step(g), v1 = variable(g, 0.0f, "v1");
    const Variable v2 = variable(g, 0.0f, "v2"), v3 = variable(g, 3.0f, "v3");
    const Operation train = group({assign_add(step, std::int64_t{1}).node(), assign_add(v1, 10.0f).node()});
    Saver pre_trained(g, {v1, v2}), all(g), kept(g, {step, v1});
    Supervisor sv(g,
                  {.logdir = dir / "new", .saver = &kept, .save_model_secs = 30, .init_fn = [&](Session& s) {
                     CHECK_THROWS_AS(all.restore(s, dir / "old/model"), NotFound);
                     pre_trained.restore(s, dir / "old/model");
                   }});
    sv.managed_session([&](Session& session) {
      CHECK(session.get<float>(v1) == 1 + 10 * static_cast<float>(start));
      CHECK(session.get<float>(v2) == (start == 0 ? 2 : 0));  // not kept, so it starts as the graph says
      CHECK(session.get<float>(v3) == 3);
      session.run(train);
    });
  }
  CHECK(CheckpointReader(dir / "new/model.ckpt-2").variables().size() == 2);
}

TEST_CASE("a loop of the supervisor's writes summaries of its own every 1200 seconds") {
  const ScratchDirectory dir;
  const LoggedLines log;
  ManualClock clock;
  CountingModel m;
  const Output mine = summary::scalar("mine", m.w.value(), {.collections = {}});
  Supervisor sv(m.g, {.logdir = dir.path(), .summary_op = none, .save_model_secs = 0, .clock = &clock});
  std::atomic<int> calls = 0;
  sv.managed_session([&](Session& session) {
    sv.loop(1200, [&] {
      sv.summary_computed(session, session.run(mine));
      ++calls;
    });
    for (int hour = 1; hour <= 3; ++hour) {
      until([&] { return calls == hour; });
      m.run(session, 5);
      clock.advance(1200);
    }
    until([&] { return calls == 4; });
  });
  const std::vector<std::string> events = events_in(dir.path());
  for (const char* line : {"mine 0", "mine 5", "mine 10", "mine 15"}) CHECK(count(events, line) >= 1);
  CHECK(count(events, "mine") == 4);
}
