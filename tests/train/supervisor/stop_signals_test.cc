// StopSignals inside one process; what ends the process is in tests/fault/training_kill_test.cc.
#include "train/supervisor/stop_signals.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <future>

#include "tests/train/supervisor/logged_lines.h"

using namespace runnel;

namespace {

std::atomic<int> own_calls{0};
void own_handler(int) { ++own_calls; }

// A handler for the life of this object.
struct Handler {
  Handler(int number, void (*handler)(int)) : signal(number) { before = ::signal(signal, handler); }
  ~Handler() { ::signal(signal, before); }
  int signal;
  void (*before)(int);
};

// How a forked child that runs `body` ends, as a shell tells it.
template <class Body>
int exit_code_of(Body body) {
  const pid_t child = ::fork();
  if (child == 0) {
    body();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

TEST_CASE("the first signal stops every coordinator, also one that comes later, and says which signal") {
  const LoggedLines log;
  const Handler own(SIGTERM, own_handler);
  Coordinator outer, inner;
  const StopSignals signals(outer);
  ::raise(SIGTERM);
  outer.wait_for_stop();
  CHECK(outer.stop_reason().cause == StopCause::kSignal);
  CHECK(outer.stop_reason().text == "received SIGTERM");
  CHECK(outer.stop_reason().exit_code() == 143);
  const StopSignals nested(inner);
  CHECK(inner.should_stop());
  CHECK(own_calls == 0);
}

TEST_CASE("the handlers that were there come back, and get the signal that came too late for anyone") {
  const LoggedLines log;
  own_calls = 0;
  const Handler own(SIGINT, own_handler);
  Coordinator coord;
  {
    const StopSignals signals(coord);
    const StopSignals again(coord);
  }
  ::raise(SIGINT);
  CHECK(own_calls == 1);
  coord.request_stop();
  coord.join();
  {
    const StopSignals signals(coord);
    ::raise(SIGINT);
  }
  CHECK(own_calls == 2);
}

TEST_CASE("what a stop by a signal calls may use the signals") {
  const LoggedLines log;
  Coordinator coord, other;
  const StopSignals signals(coord);
  std::promise<bool> stopped;
  const OnStop call = coord.on_stop([&] {
    exit_if_signalled({});  // does nothing: there are two
    stopped.set_value(other.should_stop());
  });
  const StopSignals more(other);
  ::raise(SIGTERM);
  stopped.get_future().wait();
  CHECK(other.wait_for_stop());
}

TEST_CASE("after a signal threads have five seconds at most") {
  const StopReason signal{.cause = StopCause::kSignal, .text = "received SIGTERM", .signal = SIGTERM};
  CHECK(grace_after(signal, 120) == 5);
  CHECK(grace_after(signal, 2) == 2);
  CHECK(grace_after({.cause = StopCause::kRequested}, 120) == 120);
}

TEST_CASE("a signal that was ignored stays ignored") {
  const LoggedLines log;
  const Handler ignored(SIGINT, SIG_IGN);
  Coordinator coord;
  const StopSignals signals(coord);
  ::raise(SIGINT);
  CHECK((::signal(SIGINT, SIG_IGN) == SIG_IGN));
  CHECK_FALSE(coord.should_stop());
}

#ifndef _GLIBCXX_TSAN  // it hands no signal to the child of a process with threads
TEST_CASE("a forked child is ended by the signal as if there were no handlers") {
  const LoggedLines log;
  Coordinator coord;
  const StopSignals signals(coord);
  CHECK(exit_code_of([] { ::raise(SIGTERM); }) == -SIGTERM);
  CHECK_FALSE(coord.should_stop());
}
#endif

TEST_CASE("exit_if_signalled does nothing where no signal came") {
  exit_if_signalled({});
  exit_if_signalled({.cause = StopCause::kRequested});
  Coordinator coord;
  const StopSignals signals(coord);
  exit_if_signalled(coord.stop_reason());
  CHECK_FALSE(coord.should_stop());
}

TEST_CASE("the process goes on while another part of it still has to save") {
  const LoggedLines log;
  CHECK(exit_code_of([] {
          // What else ends with the process belongs to the parent.
          ::on_exit([](int status, void*) { ::_exit(status); }, nullptr);
          Coordinator outer, inner;
          const StopSignals of_outer(outer);
          {
            const StopSignals of_inner(inner);
            ::raise(SIGTERM);
            inner.wait_for_stop();
            exit_if_signalled(inner.stop_reason());
          }
          if (!outer.wait_for_stop()) ::_exit(1);
          exit_if_signalled(outer.stop_reason());
        }) == 128 + SIGTERM);
}
