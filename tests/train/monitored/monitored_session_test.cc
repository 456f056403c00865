// The life of a monitored session: who is called in which order, what ends it and how, and what is left.
#include "train/monitored/monitored_session.h"

#include <doctest/doctest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "graph/error.h"
#include "graph/log.h"
#include "ops/ops.h"
#include "tests/graph/until.h"
#include "tests/train/monitored/probe_hook.h"
#include "train/supervisor/coordinator.h"

namespace runnel {
namespace {

using Lines = std::vector<std::string>;

// A counter that a run moves on.
struct Counter {
  Counter() : count(variable(g, std::int64_t{0}, "count")), up(assign_add(count, std::int64_t{1}).node()) {}
  std::int64_t value(Session& session) { return session.get<std::int64_t>(count); }

  Graph g;
  Variable count;
  Operation up;
};

// What is logged while it lives.
struct Log {
  Log() : sink([this](LogLevel, const std::string& line) { text += line + "\n"; }) {}
  bool has(const std::string& part) const { return text.find(part) != std::string::npos; }
  std::string text;
  ScopedLogSink sink;
};

TEST_CASE("hooks are called in their order, begin before and end after everything else") {
  Counter c;
  Log log;
  Lines lines;
  const auto b = std::make_shared<Probe>("B", &lines), a = std::make_shared<Probe>("A", &lines);
  {
    MonitoredSession session(c.g, {.hooks = {b, a}});
    session.run(c.up);
  }
  CHECK(lines == Lines{"B begin", "A begin", "B created", "A created", "B before", "A before", "B after",
                       "A after", "B end", "A end"});
}

TEST_CASE("begin may add nodes; afterwards the graph is finalised until the session is closed") {
  Counter c;
  Log log;
  MonitoredSession session(c.g);
  CHECK(c.g.finalized());
  session.close();
  CHECK_FALSE(c.g.finalized());
  c.g.finalize();
  MonitoredSession(c.g).close();
  CHECK(c.g.finalized());
}

TEST_CASE("run takes one fetch, a braced list and a span, with feeds, as a session's run does") {
  Graph g;
  Log log;
  const Output x = placeholder<float>(g, {}, "x");
  const Output twice = x + x, squared = square(x);
  MonitoredSession session(g);
  const Tensor three = Tensor::scalar(3.0f);
  CHECK(session.run(twice, {{x, three}}).scalar<float>() == 6);
  const auto [a, b] = session.run({twice, squared}, {{x, three}});
  CHECK(a.scalar<float>() == 6);
  CHECK(b.scalar<float>() == 9);
  const std::vector<Fetch> fetches{squared, twice};
  const std::vector<Feed> feeds{{x, three}};
  CHECK(session.run(std::span(fetches), std::span(feeds)).at(0).scalar<float>() == 9);
  CHECK(session.run(std::span(fetches), {{x, three}}).at(1).scalar<float>() == 6);
  CHECK(session.graph() == g);
  CHECK(session.raw_session().run(twice, {{x, three}}).scalar<float>() == 6);
}

TEST_CASE("after a hook asked for a stop no further run is taken") {
  Counter c;
  Log log;
  const auto hook = std::make_shared<Probe>("Tired");
  hook->after = [](SessionRunContext& context, const SessionRunValues&) { context.request_stop("enough"); };
  MonitoredSession session(c.g, {.hooks = {hook}});
  CHECK_FALSE(session.should_stop());
  CHECK(session.stop_reason().cause == StopCause::kNone);
  session.run(c.up);
  CHECK(session.should_stop());
  CHECK_THROWS_WITH_AS(
      session.run(c.up),
      "Run called even after should_stop requested (Tired: enough): ask should_stop() before "
      "each run",
      FailedPrecondition);
  session.close();
  CHECK(session.stop_reason().cause == StopCause::kHook);
  CHECK(session.stop_reason().text == "Tired: enough");
  CHECK(session.stop_reason().exit_code() == 0);
}

TEST_CASE("a closed session runs nothing, has no session inside, and cannot be closed again") {
  Counter c;
  Log log;
  MonitoredSession session(c.g);
  session.close();
  CHECK(session.closed());
  CHECK(session.should_stop());
  CHECK_THROWS_WITH_AS(session.run(c.up), "the MonitoredSession is closed: make another one to run more",
                       FailedPrecondition);
  CHECK_THROWS_AS(session.raw_session(), FailedPrecondition);
  CHECK_THROWS_WITH_AS(session.close(), "the MonitoredSession is closed already", FailedPrecondition);
}

TEST_CASE("the end of the input is a normal end of a block, and hooks are told of it") {
  Counter c;
  Log log;
  Lines lines;
  const auto hook = std::make_shared<Probe>("A", &lines);
  hook->before = [](SessionRunContext&) -> std::optional<SessionRunArgs> {
    throw OutOfRange("FIFOQueue 'lines' is closed and has nothing left");
  };
  MonitoredSession session(c.g, {.hooks = {hook}});
  const StopReason why = session.close_after([&](MonitoredSession& s) {
    while (!s.should_stop()) s.run(c.up);
  });
  CHECK(why.cause == StopCause::kInputExhausted);
  CHECK(why.text == "input exhausted: FIFOQueue 'lines' is closed and has nothing left");
  CHECK(why.error != nullptr);
  CHECK(why.exit_code() == 0);
  CHECK(lines.back() == "A end");
  CHECK(log.has("Training stopped (input exhausted): input exhausted: FIFOQueue 'lines'"));
}

TEST_CASE("an error that leaves a block is thrown again after all is closed, and no hook's end is called") {
  Counter c;
  Log log;
  Lines lines;
  const auto hook = std::make_shared<Probe>("A", &lines);
  MonitoredSession session(c.g, {.hooks = {hook}});
  CHECK_THROWS_WITH_AS(session.close_after([](MonitoredSession&) { throw std::runtime_error("a bug"); }),
                       "a bug", std::runtime_error);
  CHECK(session.closed());
  CHECK_FALSE(c.g.finalized());
  CHECK(lines == Lines{"A begin", "A created"});
  CHECK(session.stop_reason().cause == StopCause::kError);
  CHECK(session.stop_reason().text == "a bug");
  CHECK(session.stop_reason().exit_code() == 1);
}

TEST_CASE("a destructor while an error passes calls no end, but the end of the input is no such error") {
  Counter c;
  Log log;
  for (const bool exhausted : {false, true}) {
    CAPTURE(exhausted);
    Lines lines;
    const auto hook = std::make_shared<Probe>("A", &lines);
    hook->after = [&](SessionRunContext&, const SessionRunValues&) {
      if (exhausted) throw OutOfRange("nothing left");
      throw Internal("a bug");
    };
    try {
      MonitoredSession session(c.g, {.hooks = {hook}});
      session.run(c.up);
    } catch (const Error&) {
    }
    CHECK((lines.back() == "A end") == exhausted);
  }
}

TEST_CASE("a loop that catches the end of the input itself and closes has it as its reason") {
  Counter c;
  Log log;
  const auto hook = std::make_shared<Probe>();
  hook->after = [](SessionRunContext&, const SessionRunValues&) { throw OutOfRange("nothing left"); };
  MonitoredSession session(c.g, {.hooks = {hook}});
  CHECK_THROWS_AS(session.run(c.up), OutOfRange);
  CHECK_FALSE(session.should_stop());
  session.close();
  CHECK(session.stop_reason().cause == StopCause::kInputExhausted);
}

TEST_CASE("every hook is told of the end, the first error of one is thrown, and the session is closed") {
  Counter c;
  Log log;
  Lines lines;
  const auto bad = std::make_shared<Probe>("Bad", &lines), good = std::make_shared<Probe>("Good", &lines);
  bad->at_end = [](Session&) { throw DataLoss("disk is gone"); };
  MonitoredSession session(c.g, {.hooks = {bad, good}});
  CHECK_THROWS_WITH_AS(session.close(), "disk is gone", DataLoss);
  CHECK(lines.back() == "Good end");
  CHECK(session.closed());
  CHECK(session.stop_reason().cause == StopCause::kError);
}

TEST_CASE("at the end the session is still open for hooks") {
  Counter c;
  Log log;
  std::int64_t last = 0;
  const auto hook = std::make_shared<Probe>();
  hook->at_end = [&](Session& session) { last = c.value(session); };
  {
    MonitoredSession session(c.g, {.hooks = {hook}});
    session.run(c.up);
    session.run(c.up);
  }
  CHECK(last == 2);
}

TEST_CASE("what begin throws leaves the graph as it was") {
  Counter c;
  Log log;
  class Bad final : public SessionRunHook {
   public:
    std::string name() const override { return "Bad"; }
    void begin(Graph&) override { throw InvalidArgument("no global step"); }
  };
  CHECK_THROWS_WITH_AS(MonitoredSession(c.g, {.hooks = {std::make_shared<Bad>()}}), "no global step",
                       InvalidArgument);
  CHECK_FALSE(c.g.finalized());
}

TEST_CASE("a creator of the user's is asked for the session") {
  Counter c;
  Log log;
  class Mine final : public SessionCreator {
   public:
    explicit Mine(Counter& c) : c_(c) {}
    std::shared_ptr<Session> create_session(Coordinator*) override {
      auto session = std::make_shared<Session>(c_.g);
      session->run(initialize_global_variables(c_.g));
      return session;
    }

   private:
    Counter& c_;
  };
  MonitoredSession session(c.g, {.session_creator = std::make_shared<Mine>(c)});
  CHECK_FALSE(c.g.finalized());
  session.run(c.up);
  CHECK(c.value(session.raw_session()) == 1);
}

// --- step functions

TEST_CASE("a step function runs with hooks and without, and its result is handed on") {
  Counter c;
  Log log;
  Lines lines;
  const auto hook = std::make_shared<Probe>("A", &lines);
  MonitoredSession session(c.g, {.hooks = {hook}});
  const std::int64_t count = session.run_step_fn([&](StepContext& context) {
    context.session().run(c.up);
    context.run_with_hooks(c.up);
    const auto [value, again] = context.run_with_hooks({c.count.value(), c.count.value()});
    CHECK(value == again);
    return value.scalar<std::int64_t>();
  });
  CHECK(count == 2);
  CHECK(lines == Lines{"A begin", "A created", "A before", "A after", "A before", "A after"});
}

TEST_CASE("a step function that asks for a stop ends the block normally") {
  Counter c;
  Log log;
  Lines lines;
  const auto hook = std::make_shared<Probe>("A", &lines);
  MonitoredSession session(c.g, {.hooks = {hook}});
  bool went_on = false;
  const StopReason why = session.close_after([&](MonitoredSession& s) {
    s.run_step_fn([&](StepContext& context) {
      context.request_stop();
      went_on = true;
    });
  });
  CHECK_FALSE(went_on);
  CHECK(why.cause == StopCause::kRequested);
  CHECK(why.text == "a step_fn asked for it");
  CHECK(lines.back() == "A end");
}

// --- threads

TEST_CASE("a thread's error stops the loop and is thrown when the session closes, after the hooks' end") {
  Counter c;
  Log log;
  Lines lines;
  const auto hook = std::make_shared<Probe>("A", &lines);
  hook->created = [](Session&, Coordinator& coord) {
    coord.start_thread("reader", [] { throw NotFound("no such file"); });
    coord.wait_for_stop();
  };
  MonitoredSession session(c.g, {.hooks = {hook}});
  CHECK(session.should_stop());
  CHECK_THROWS_WITH_AS(session.close(), "no such file", NotFound);
  CHECK(lines.back() == "A end");
  CHECK(session.stop_reason().cause == StopCause::kError);
  CHECK(session.stop_reason().exit_code() == 1);
}

TEST_CASE("a thread's end of input is an error, since the loop would not see it") {
  Counter c;
  Log log;
  const auto hook = std::make_shared<Probe>();
  hook->created = [](Session&, Coordinator& coord) {
    coord.start_thread("reader", [] { throw OutOfRange("no more lines"); });
    coord.wait_for_stop();
  };
  MonitoredSession session(c.g, {.hooks = {hook}});
  CHECK(session.should_stop());
  CHECK_THROWS_AS(session.close(), OutOfRange);
}

TEST_CASE("a stop that a thread asks for ends the loop normally, with what it said as the reason") {
  Counter c;
  Log log;
  const auto hook = std::make_shared<Probe>();
  hook->created = [](Session&, Coordinator& coord) {
    coord.request_stop(StopReason{.cause = StopCause::kRequested, .text = "the user pressed q"});
  };
  MonitoredSession session(c.g, {.hooks = {hook}});
  const StopReason why = session.close_after([&](MonitoredSession& s) {
    while (!s.should_stop()) s.run(c.up);
  });
  CHECK(why.cause == StopCause::kRequested);
  CHECK(why.text == "the user pressed q");
}

TEST_CASE("a thread that does not end in time is left behind with a warning that names it") {
  Counter c;
  Log log;
  ManualClock clock;
  std::shared_ptr<Coordinator> free = std::make_shared<Coordinator>();
  CoordinatedThread straggler;
  const auto hook = std::make_shared<Probe>();
  hook->created = [&](Session&, Coordinator& coord) {
    straggler = coord.start_thread("slow-logger", [free] { free->wait_for_stop(); });
  };
  MonitoredSession session(c.g, {.hooks = {hook}, .stop_grace_period_secs = 1, .clock = &clock});
  std::jthread time([&] {
    until([&] { return clock.waiting() > 0; });
    clock.advance(1);
  });
  session.close();
  time.join();
  CHECK(log.has("'slow-logger'"));
  CHECK(session.stop_reason().exit_code() == 0);
  free->request_stop();
  straggler.join();
}

// --- SingularMonitoredSession

TEST_CASE("a singular session restores, runs hooks and shows its session") {
  Counter c;
  Log log;
  Lines lines;
  SingularMonitoredSession session(c.g, {.hooks = {std::make_shared<Probe>("A", &lines)}});
  session.run(c.up);
  CHECK(c.value(session.raw_session()) == 1);
  session.close();
  CHECK(lines == Lines{"A begin", "A created", "A before", "A after", "A end"});
}

}  // namespace
}  // namespace runnel
