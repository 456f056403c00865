// What a monitored session is made of. What may be lost and made anew is a LiveSession; what lasts is here:
// the hooks, the coordinator that signals stop, and the reason.
#pragma once

#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "graph/error.h"
#include "train/monitored/hooked_run.h"
#include "train/monitored/live_session.h"
#include "train/monitored/monitored_session.h"
#include "train/supervisor/coordinator.h"
#include "train/supervisor/stop_signals.h"

namespace runnel {

struct MonitoredSession::State {
  State(Graph& g, MonitoredSessionOptions&& options, Recovery recovery);

  void begin();
  void begin_life();
  const std::shared_ptr<LiveSession>& life() const;  // throws FailedPrecondition if there is none
  void end_life();
  void lost(const char* what, const std::string& error);
  // A part of the training is gone, not the training.
  static bool is_lost(const Error& error) {
    return error.code() == Code::kAborted || error.code() == Code::kUnavailable;
  }

  // Calls `attempt` with a session until it is not lost meanwhile.
  template <class Attempt>
  void with_recovery(Attempt attempt) {
    ended_cleanly = false;
    last_end = {};
    const struct Before {
      bool& repeats;
      const bool value = repeats;
      ~Before() { repeats = value; }
    } before{repeats};
    try {
      while (!tried(attempt)) {
      }
    } catch (const Error& error) {
      remember_end(error);
      throw;
    }
  }
  template <class Attempt>
  bool tried(Attempt& attempt) {
    require_going_on();
    try {
      if (!live) begin_life();
      const std::shared_ptr<LiveSession> held = live;  // to the end, even if another one is made meanwhile
      attempt(*held);
      return true;
    } catch (const Error& error) {
      if (!recover || !is_lost(error)) throw;
      if (live) lost("A run has failed", error.message());
      repeats = true;
      return false;
    }
  }
  void run_hooked(LiveSession& in, std::span<const Fetch> fetches, std::span<const Feed> feeds,
                  const RunOptions& options, Tensor* out);
  void raise_recorded_instead(LiveSession& in, bool cancelled);
  void require_going_on() const;

  StopReason reason() const;
  void note(StopReason reason);
  bool is_clean_end(const Error& error) const;
  void remember_end(const Error& error);
  bool should_stop();

  void close(bool normal);
  std::exception_ptr end_hooks();
  std::exception_ptr end_last_life();
  void let_go();

  const std::shared_ptr<Graph> graph;
  const std::shared_ptr<SessionCreator> creator;
  const double grace;
  const bool recover;
  const bool was_finalized = graph->finalized();
  const int exceptions_before = std::uncaught_exceptions();

  Coordinator whole;  // stopped by signals only
  std::optional<StopSignals> signals;
  HookedRun hooked;
  std::shared_ptr<LiveSession> live;  // null if a recovery failed, and when closed
  bool closed = false;
  StopReason stop;             // the first one noted
  bool repeats = false;        // the call that runs was begun before: a stop since then is for the next one
  bool ended_cleanly = false;  // the last run threw, and it was a normal end
  StopReason last_end;         // what it was, if nothing else is the reason
};

}  // namespace runnel
