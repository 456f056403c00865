// What takes part in the runs of a MonitoredSession: hooks are told when the graph is complete, when a
// session is there, before and after each run, and at a normal end. A hook's fetches and feeds are merged
// into the one run of the caller, so that all of them see the same step. Source: tf.train.SessionRunHook
// (behaviours 15); README.md has the order of calls. The hooks themselves live in files of their own.
#pragma once

#include <concepts>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "graph/error.h"
#include "graph/runtime/session.h"

namespace runnel {

class Coordinator;
enum class StopCause;  // of "train/supervisor/stop_reason.h"

// What one run is asked for, by its caller or by a hook. `options.run_metadata` asks that the run be
// recorded; each who asks gets a copy of the one recording before after_run is called.
struct SessionRunArgs {
  std::vector<Fetch> fetches = {};
  std::vector<Feed> feed_dict = {};
  RunOptions options = {};
};

// What a hook gets back. Everything is good during after_run only; a copy of a Tensor keeps its values.
struct SessionRunValues {
  std::span<const Tensor> results =
      {};                   // of this hook's fetches, in their order; of operations, empty Tensors
  RunOptions options = {};  // of the run: what the caller and all hooks asked for, merged
  const RunMetadata* run_metadata = nullptr;  // null if nobody asked for it
};

class SessionRunHook;

// One run, as its hooks see it. Lives for one call of MonitoredSession::run.
class SessionRunContext {
 public:
  SessionRunContext(const SessionRunArgs& original_args, Session& session)
      : original_args_(&original_args), session_(&session) {}

  const SessionRunArgs& original_args() const { return *original_args_; }  // what the caller asked for
  Session& session() const { return *session_; }  // without hooks: for runs of a hook's own

  // This run is the last: should_stop() is true after it. `why` is for a person: "loss is NaN". The first
  // request is the one that counts; its cause is StopCause::kHook unless another is given.
  void request_stop(std::string why = "");
  void request_stop(StopCause cause, std::string why);
  bool stop_requested() const { return stop_.has_value(); }

  // For the one who runs the hooks: whose turn it is, and what was asked for.
  struct StopRequest {
    std::optional<StopCause> cause;  // none: StopCause::kHook
    std::string hook;                // its name(); "" outside a hook's turn
    std::string why;
  };
  void enter(const SessionRunHook& hook) { hook_ = &hook; }
  const std::optional<StopRequest>& stop() const { return stop_; }

 private:
  const SessionRunArgs* original_args_;
  Session* session_;
  const SessionRunHook* hook_ = nullptr;
  std::optional<StopRequest> stop_ = {};
};

// The base of hooks; each call does nothing unless it is overridden. Calls come from the thread that runs the
// MonitoredSession, hooks in the order in which they were given. What a hook throws ends the run as if the
// run had thrown it: Aborted and Unavailable begin again with a new session, everything else reaches the
// caller.
class SessionRunHook {
 public:
  virtual ~SessionRunHook();
  // As reasons and errors name it: "StopAtStepHook".
  virtual std::string name() const = 0;
  // Once, before the graph is finalised: nodes may be added here, and not later.
  virtual void begin(Graph& graph);
  // A session is there, initialised or restored, and its queue runners run. Again after each recovery: what
  // was known about the old session is void.
  virtual void after_create_session(Session& session, Coordinator& coord);
  // What this hook wants of the run that comes; none wants nothing. A tensor that the caller or another hook
  // feeds, too, is an error (FailedPrecondition).
  virtual std::optional<SessionRunArgs> before_run(SessionRunContext& context);
  // After a run that succeeded, with the values of what before_run asked for.
  virtual void after_run(SessionRunContext& context, const SessionRunValues& values);
  // At a normal end (a stop was asked for, the input is exhausted, or the session was closed without an
  // error), while the session is still open. Not called when an error ended the training.
  virtual void end(Session& session);
};

// A small handle to a hook, shared by its copies: what lists of hooks hold.
class Hook {
 public:
  template <std::derived_from<SessionRunHook> T>
  Hook(std::shared_ptr<T> hook) : hook_(std::move(hook)) {
    if (!hook_) throw InvalidArgument("a Hook was made of an empty pointer: give it a hook");
  }
  SessionRunHook* operator->() const { return hook_.get(); }
  SessionRunHook& operator*() const { return *hook_; }
  const std::shared_ptr<SessionRunHook>& shared() const { return hook_; }

 private:
  std::shared_ptr<SessionRunHook> hook_;  // never null
};

}  // namespace runnel
