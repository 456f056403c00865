// Coordinator: which error wins, what join waits for, who is left behind. C2, C3 and C6 of the cases users
// met.
#include "train/supervisor/coordinator.h"

#include <doctest/doctest.h>

#include <atomic>
#include <future>
#include <limits>
#include <stdexcept>
#include <thread>

#include "tests/graph/until.h"
#include "tests/train/supervisor/logged_lines.h"

using namespace runnel;

TEST_CASE("join raises the first error, and its text lists the later ones of threads and of main") {
  LoggedLines lines;
  Coordinator coord;
  coord.start_thread("A", [] { throw Unavailable("the device is gone"); });
  coord.wait_for_stop();
  coord.start_thread("B", [] { throw std::runtime_error("no more room"); });
  until([&] { return coord.notes().size() == 1; });
  CHECK_FALSE(coord.stop_on_exception([] { throw Internal("the session is closed"); }));
  CHECK_THROWS_WITH_AS(coord.join(),
                       "the device is gone; later errors: thread 'B': no more room; the session is closed",
                       Unavailable);
  CHECK(coord.stop_reason().cause == StopCause::kError);
  CHECK(coord.stop_reason().text == "thread 'A': the device is gone");
  CHECK(coord.stop_reason().exit_code() == 1);
}

TEST_CASE("the error of join keeps class, code, node and place") {
  LoggedLines lines;
  Coordinator coord;
  const std::exception_ptr first = std::make_exception_ptr(DataLoss("torn", {"model.cc", 7}, "w"));
  coord.request_stop(first);
  coord.request_stop(std::make_exception_ptr(std::logic_error("a bug")));
  try {
    coord.join();
    FAIL("join returned");
  } catch (const DataLoss& error) {
    CHECK(error.node() == "w");
    CHECK(error.where().line == 7);
    CHECK(error.message() == "torn; later errors: a bug");
  }
}

TEST_CASE("a coordinator waits for no time that is no number") {
  const LoggedLines lines;
  Coordinator coord;
  coord.request_stop();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_WITH_AS(
      coord.join({.stop_grace_period_secs = kNan}),
      "Coordinator: stop_grace_period_secs is NaN; give seconds, or infinity to wait without end",
      InvalidArgument);
  CHECK_THROWS_AS(coord.wait_for_stop(kNan), InvalidArgument);
}

TEST_CASE("an error of a class of the user's own goes through join as it is, and what came later is logged") {
  struct Mine : std::runtime_error {
    using std::runtime_error::runtime_error;
  };
  LoggedLines lines;
  Coordinator coord;
  coord.stop_on_exception([] { throw Mine("mine"); });
  coord.stop_on_exception([] { throw Internal("second"); });
  CHECK_THROWS_WITH_AS(coord.join(), "mine", Mine);
  CHECK(lines.has("warning: mine; later errors: second"));
}

TEST_CASE("the end of the input is a clean stop unless an error was reported, too") {
  LoggedLines lines;
  Coordinator coord;
  coord.request_stop(std::make_exception_ptr(OutOfRange("FIFOQueue 'q' is closed")));
  CHECK(coord.stop_reason().cause == StopCause::kInputExhausted);
  CHECK(coord.stop_reason().text == "input exhausted: FIFOQueue 'q' is closed");
  CHECK(coord.stop_reason().exit_code() == 0);
  coord.raise_requested_exception();
  coord.request_stop(std::make_exception_ptr(Cancelled("its wait was ended")));
  coord.join();

  coord.clear_stop();
  coord.request_stop(std::make_exception_ptr(OutOfRange("FIFOQueue 'q' is closed")));
  coord.request_stop(std::make_exception_ptr(Internal("wrong")));
  CHECK_THROWS_WITH_AS(coord.join(), "wrong; later errors: input exhausted: FIFOQueue 'q' is closed",
                       Internal);
}

TEST_CASE("clean types are the ones that were given") {
  LoggedLines lines;
  Coordinator coord({.clean_stop_exception_types = {Code::kAborted}});
  coord.request_stop(std::make_exception_ptr(Aborted("a task is gone")));
  coord.join();
  coord.clear_stop();
  coord.request_stop(std::make_exception_ptr(OutOfRange("the end")));
  CHECK_THROWS_AS(coord.join(), OutOfRange);
}

TEST_CASE("every stop has the reason that came first") {
  LoggedLines lines;
  for (const StopCause cause : {StopCause::kRequested, StopCause::kStepsReached, StopCause::kHook}) {
    Coordinator coord;
    CHECK(coord.stop_reason().cause == StopCause::kNone);
    coord.request_stop(StopReason{.cause = cause, .text = "because"});
    coord.request_stop(StopReason{.cause = StopCause::kSignal, .text = "SIGTERM", .signal = 15});
    CHECK(coord.stop_reason().cause == cause);
    CHECK(coord.stop_reason().exit_code() == 0);
    CHECK(lines.has(cat("info: Coordinator: stopping (", name_of(cause), "): because")));
    coord.join();
  }
  CHECK(StopReason{.cause = StopCause::kSignal, .signal = 15}.exit_code() == 143);
}

TEST_CASE("an error after a stop that was asked for is logged, and does not make it a failure") {
  LoggedLines lines;
  Coordinator coord;
  coord.request_stop();
  coord.stop_on_exception([] { throw Internal("too late"); });
  coord.join();
  CHECK(lines.has("warning: Coordinator: an error after the stop: too late"));
  CHECK(coord.notes() == std::vector<std::string>{"too late"});
}

TEST_CASE("after join an error goes to the caller, a stop is a stop, and clear_stop starts anew") {
  LoggedLines lines;
  Coordinator coord;
  coord.join();
  CHECK(coord.joined());
  CHECK_THROWS_AS(coord.request_stop(std::make_exception_ptr(Internal("late"))), Internal);
  CHECK_THROWS_AS(coord.stop_on_exception([] { throw 3; }), int);
  CHECK_FALSE(coord.should_stop());
  coord.request_stop(std::make_exception_ptr(OutOfRange("the end")));
  CHECK(coord.should_stop());
  coord.clear_stop();
  CHECK_FALSE(coord.joined());
  CHECK_FALSE(coord.should_stop());
  CHECK(coord.stop_reason().cause == StopCause::kNone);
}

TEST_CASE("join waits for all threads and requests no stop") {
  LoggedLines lines;
  Coordinator coord;
  std::promise<void> go;
  std::atomic<int> done = 0;
  coord.start_thread("A", [&] { go.get_future().wait(), ++done; });
  const CoordinatedThread given("B", [&] { ++done; });
  given.start();
  std::jthread opener([&] { go.set_value(); });
  coord.join({.threads = {given}});
  CHECK(done == 2);
  CHECK_FALSE(coord.should_stop());
  opener.join();
}

TEST_CASE("the grace period is not waited out when nothing runs") {
  LoggedLines lines;
  ManualClock clock;  // stands still: a wait for it would not end
  Coordinator coord({.clock = &clock});
  coord.start_thread("A", [&] { coord.wait_for_stop(); });
  coord.request_stop();
  coord.join();
  CHECK(clock.steady_nanos() == 0);
  CHECK_FALSE(lines.has("still running"));
}

TEST_CASE(
    "a thread that outlives the grace period is a warning with its name and what it does; strict, an error") {
  for (const bool strict : {false, true}) {
    LoggedLines lines;
    ManualClock clock;
    std::promise<void> go, said;
    CoordinatedThread left;
    {
      Coordinator coord({.clock = &clock});
      left = coord.start_thread("Thread-25", [&] {
        const Doing doing("sleeps");
        said.set_value();
        go.get_future().wait();
      });
      said.get_future().wait();
      coord.request_stop();
      std::jthread time([&] { until([&] { return clock.waiting() == 1; }), clock.advance(1); });
      const std::string text =
          "Coordinator: stopped with threads still running after 1 s: 'Thread-25' (sleeps)";
      const JoinOptions options{.stop_grace_period_secs = 1, .strict = strict};
      if (strict) {
        CHECK_THROWS_WITH_AS(coord.join(options), text.c_str(), DeadlineExceeded);
      } else {
        coord.join(options);
        CHECK(lines.has("warning: " + text));
      }
      time.join();
    }
    go.set_value();  // it outlives the Coordinator
    left.join();
  }
}

TEST_CASE("ignored stragglers are no warning, and the first error comes before them") {
  LoggedLines lines;
  Coordinator coord;
  std::promise<void> go;
  const CoordinatedThread left = coord.start_thread("slow", [&] { go.get_future().wait(); });
  coord.request_stop(std::make_exception_ptr(Internal("first")));
  CHECK_THROWS_WITH_AS(coord.join({.stop_grace_period_secs = 0, .ignore_live_threads = true, .strict = true}),
                       "first", Internal);
  CHECK_FALSE(lines.has("warning"));
  go.set_value();
  left.join();
}

TEST_CASE("a call on stop comes once, may use the coordinator, and comes at once after the stop") {
  LoggedLines lines;
  Coordinator coord;
  int calls = 0;
  const OnStop early = coord.on_stop([&] {
    ++calls;
    coord.request_stop();
    CHECK(coord.should_stop());
    throw Internal("in a call");
  });
  {
    const OnStop gone = coord.on_stop([&] { calls += 100; });
  }
  coord.request_stop();
  coord.request_stop();
  CHECK(calls == 1);
  const OnStop late = coord.on_stop([&] { ++calls; });
  CHECK(calls == 2);
  CHECK(lines.has("warning: Coordinator: a call on stop failed: in a call"));
}

TEST_CASE("after clear_stop calls on the next stop are made") {
  LoggedLines lines;
  Coordinator coord;
  coord.request_stop();
  coord.clear_stop();
  int calls = 0;
  const OnStop call = coord.on_stop([&] { ++calls; });
  CHECK(calls == 0);
  coord.request_stop();
  CHECK(calls == 1);
}

TEST_CASE("a handle of a run that was stopped stays stopped, and has no say in the next") {
  LoggedLines lines;
  Coordinator coord;
  const std::shared_ptr<Coordinator> former = coord.share();
  coord.clear_stop();  // of no stop
  CHECK_FALSE(former->should_stop());
  coord.request_stop();
  coord.clear_stop();
  CHECK_FALSE(coord.should_stop());
  CHECK(former->should_stop());
  CHECK(former->share()->wait_for_stop());
  int calls = 0;
  const OnStop call = former->on_stop([&] { ++calls; });
  CHECK(calls == 1);
  CHECK_FALSE(former->stop_on_exception([] { throw Internal("too late"); }));
  former->request_stop();
  CHECK_FALSE(coord.should_stop());
  CHECK(lines.has("warning: Coordinator: an error of a thread of a run before: too late"));
  CHECK(coord.share()->should_stop() == false);
}

TEST_CASE("a thread may ask for the stop of itself, but not wait for itself") {
  LoggedLines lines;
  Coordinator coord;
  coord.start_thread("A", [&] { coord.request_stop(); });
  coord.join();
  CHECK(coord.stop_reason().text == "thread 'A': a stop was requested");
  coord.clear_stop();
  coord.start_thread("B", [&] { coord.join(); });
  coord.wait_for_stop();
  CHECK_THROWS_WITH_AS(coord.join(), "Coordinator: thread 'B' would wait for its own end in join()",
                       FailedPrecondition);
}

TEST_CASE("waiting for a stop ends at its time or at the stop") {
  LoggedLines lines;
  ManualClock clock;
  Coordinator coord({.clock = &clock});
  CHECK_FALSE(coord.wait_for_stop(0));
  std::jthread time([&] { until([&] { return clock.waiting() == 1; }), clock.advance(5); });
  CHECK_FALSE(coord.wait_for_stop(5));
  time.join();
  std::jthread stopper([&] { until([&] { return clock.waiting() == 1; }), coord.request_stop(); });
  CHECK(coord.wait_for_stop(5));
  stopper.join();
}

TEST_CASE(
    "a coordinator that goes without join stops its threads, and logs the error that nobody asked for") {
  LoggedLines lines;
  std::atomic<bool> ended = false;
  {
    Coordinator coord;
    coord.start_thread("A", [&, shared = coord.share()] {
      shared->wait_for_stop();
      ended = true;
    });
  }
  CHECK(ended);
  {
    Coordinator coord;
    coord.request_stop(std::make_exception_ptr(Internal("unseen")));
  }
  CHECK(lines.has("error: Coordinator: ended without join(): unseen"));
}

TEST_CASE("a thousand threads that fail at once leave one error with a bounded text") {
  LoggedLines lines;
  Coordinator coord;
  for (int i = 0; i < 1000; ++i) coord.stop_on_exception([] { throw Internal("same"); });
  try {
    coord.join();
    FAIL("join returned");
  } catch (const Internal& error) {
    CHECK(error.message().size() < 200);
    CHECK(error.message().ends_with("; same; and 983 more"));
  }
}
