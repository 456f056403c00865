// Scenes with a Coordinator for test_coordinator.py: a line each, "NAME: what came of it".
#include <cstdio>
#include <string>

#include "graph/graph.h"
#include "graph/log.h"
#include "train/train.h"

using namespace runnel;

namespace {

void say(const char* scene, const std::string& what) { std::printf("%s: %s\n", scene, what.c_str()); }

// "Aborted first", or "nothing".
template <class F>
std::string raised_by(F&& body) {
  try {
    body();
    return "nothing";
  } catch (const Error& error) {
    return cat(name_of(error.code()), " ", error.message().substr(0, error.message().find(';')));
  }
}

std::exception_ptr error(Code code, const char* text) {
  try {
    throw_error(code, text);
  } catch (...) {
    return std::current_exception();
  }
}

void stops(const char* scene, CoordinatorOptions options, std::initializer_list<std::exception_ptr> errors) {
  Coordinator coord(options);
  for (const std::exception_ptr& one : errors) coord.request_stop(one);
  const bool stopped = coord.should_stop();
  say(scene, cat(stopped ? "stopped, " : "runs, ", raised_by([&] { coord.join(); })));
}

void thread_errors() {
  Coordinator coord;
  coord.start_thread("A", [] { throw Aborted("first"); });
  coord.wait_for_stop();
  coord.start_thread("B", [] { throw Internal("second"); });
  say("thread errors", raised_by([&] { coord.join(); }));
}

void after_join() {
  Coordinator coord;
  coord.join();
  say("joined", coord.joined() ? "yes" : "no");
  say("late error", raised_by([&] { coord.request_stop(error(Code::kAborted, "late")); }));
  say("late end", raised_by([&] { coord.request_stop(error(Code::kOutOfRange, "end")); }));
  coord.request_stop();
  say("late stop", coord.should_stop() ? "stopped" : "runs");
  coord.clear_stop();
  coord.request_stop();
  say("cleared", cat(coord.joined() ? "joined, " : "not joined, ", coord.should_stop() ? "stopped" : "runs"));
}

void grid() {
  ManualClock clock(0);
  Coordinator coord({.clock = &clock});
  std::string times;
  int calls = 0;
  LooperThread::loop(coord, 0.2, [&] {
    times += cat(clock.steady_nanos() / 1'000'000, " ");
    if (++calls == 1) clock.advance(0.5);
    if (calls == 6) coord.request_stop();
  });
  while (!coord.should_stop())
    if (clock.waiting() == 1) clock.advance(0.1);
  coord.join();
  say("grid", times);
}

}  // namespace

int main() try {
  set_log_sink([](LogLevel, const std::string&) {});
  stops("first error", {}, {error(Code::kAborted, "first"), error(Code::kInternal, "second")});
  stops("end of input", {}, {error(Code::kOutOfRange, "end")});
  stops("end, then end", {}, {error(Code::kOutOfRange, "end"), error(Code::kOutOfRange, "again")});
  stops("error, then end", {}, {error(Code::kAborted, "first"), error(Code::kOutOfRange, "end")});
  stops("end, then error", {}, {error(Code::kOutOfRange, "end"), error(Code::kAborted, "second")});
  stops("stop, then error", {}, {nullptr, error(Code::kAborted, "second")});
  stops("nothing", {}, {});
  stops("other clean types", {.clean_stop_exception_types = {Code::kAborted}},
        {error(Code::kAborted, "first")});
  stops("no clean type", {.clean_stop_exception_types = {}}, {error(Code::kOutOfRange, "end")});
  thread_errors();
  after_join();
  grid();
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
