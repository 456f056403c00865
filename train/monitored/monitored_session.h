// A session for training: it initialises or restores its model, starts what feeds it, runs hooks around every
// run, begins again from the newest checkpoint when a part of it is lost, and knows why it stopped. Source:
// tf.train.MonitoredSession, SingularMonitoredSession (behaviours 14.4, 14.5); README.md has the order of all
// calls and what differs.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "graph/clock.h"
#include "graph/dataflow.h"
#include "graph/error.h"
#include "graph/runtime/session.h"
#include "train/monitored/hook.h"
#include "train/monitored/scaffold.h"
#include "train/monitored/session_creators.h"
#include "train/supervisor/stop_reason.h"

namespace runnel {

class MonitoredSession;

// Ends the iteration from inside a step_fn; a normal end for the one who closes.
class StopIteration : public OutOfRange {
 public:
  explicit StopIteration(std::string message) : OutOfRange(std::move(message)) {}
};

// What a step_fn may do. Good during its call only.
class StepContext {
 public:
  // Without hooks, until the next recovery, which may be inside of the step_fn. Throws FailedPrecondition if
  // there is none.
  Session& session() const;

  // As MonitoredSession::run, with its hooks.
  Tensor run_with_hooks(Fetch fetch, std::initializer_list<Feed> feeds = {}, const RunOptions& options = {});
  template <std::size_t N>
  std::array<Tensor, N> run_with_hooks(const Fetch (&fetches)[N], std::initializer_list<Feed> feeds = {},
                                       const RunOptions& options = {}) {
    std::array<Tensor, N> out;
    run_into(std::span<const Fetch>(fetches), std::span(feeds.begin(), feeds.size()), options, out.data());
    return out;
  }
  std::vector<Tensor> run_with_hooks(std::span<const Fetch> fetches, std::initializer_list<Feed> feeds = {},
                                     const RunOptions& options = {}) {
    return run_with_hooks(fetches, std::span(feeds.begin(), feeds.size()), options);
  }
  std::vector<Tensor> run_with_hooks(std::span<const Fetch> fetches, std::span<const Feed> feeds,
                                     const RunOptions& options = {});
  // Leaves the step_fn by throwing StopIteration; should_stop() is true from now on.
  [[noreturn]] void request_stop();

 private:
  friend class MonitoredSession;
  explicit StepContext(MonitoredSession& monitored) : monitored_(&monitored) {}
  void run_into(std::span<const Fetch> fetches, std::span<const Feed> feeds, const RunOptions& options,
                Tensor* out);

  MonitoredSession* monitored_;
};

struct MonitoredSessionOptions {
  std::shared_ptr<SessionCreator> session_creator = nullptr;  // none: ChiefSessionCreator(graph)
  std::vector<Hook> hooks = {};
  double stop_grace_period_secs = 120;  // for threads, once all should stop
  // SIGTERM and SIGINT ask for a stop; when the session has closed, the process ends with 128 + signal.
  bool handle_signals = true;
  Clock* clock = nullptr;  // for all waiting; borrowed; none means the machine's
};

// All calls come from one thread at a time. If the graph was not finalised before, it is not any more after
// close().
class MonitoredSession {
 public:
  // Calls begin() of the hooks, creates the session, starts queue runners, calls after_create_session() of
  // the hooks. Aborted and Unavailable are tried again. Throws what the creator and the hooks throw.
  explicit MonitoredSession(Graph& graph, MonitoredSessionOptions options = {});
  // Closes if nobody has; what that throws is logged. While an error passes, the hooks' end() is not called,
  // unless the last run ended by that error and it is a normal end.
  virtual ~MonitoredSession();
  MonitoredSession(const MonitoredSession&) = delete;
  MonitoredSession& operator=(const MonitoredSession&) = delete;

  // As Session::run, in one step with what the hooks want. After Aborted or Unavailable the session is made
  // anew from the newest checkpoint, and the call repeated. Throws OutOfRange at the end of the input,
  // Cancelled if it waited for input, or began, when a signal had asked for a stop, FailedPrecondition if a
  // stop was asked for before, if the session is closed, and if feeds meet; and what the session and the
  // hooks throw.
  Tensor run(Fetch fetch, std::initializer_list<Feed> feeds = {}, const RunOptions& options = {});
  template <std::size_t N>
  std::array<Tensor, N> run(const Fetch (&fetches)[N], std::initializer_list<Feed> feeds = {},
                            const RunOptions& options = {}) {
    std::array<Tensor, N> out;
    run_into(std::span<const Fetch>(fetches), std::span(feeds.begin(), feeds.size()), options, out.data());
    return out;
  }
  std::vector<Tensor> run(std::span<const Fetch> fetches, std::initializer_list<Feed> feeds = {},
                          const RunOptions& options = {}) {
    return run(fetches, std::span(feeds.begin(), feeds.size()), options);
  }
  std::vector<Tensor> run(std::span<const Fetch> fetches, std::span<const Feed> feeds,
                          const RunOptions& options = {});

  // Calls step_fn(StepContext&) and returns what it returns. Aborted and Unavailable that leave it make the
  // session anew, and the whole step_fn is called again.
  template <std::invocable<StepContext&> StepFn>
  std::invoke_result_t<StepFn&, StepContext&> run_step_fn(StepFn&& step_fn) {
    using Result = std::invoke_result_t<StepFn&, StepContext&>;
    if constexpr (std::is_void_v<Result>) {
      run_step([&](StepContext& context) { std::invoke(step_fn, context); });
    } else {
      std::optional<Result> out;
      run_step([&](StepContext& context) { out.emplace(std::invoke(step_fn, context)); });
      return *std::move(out);
    }
  }

  // True when the next run should not be: a hook, a signal, a thread of the coordinator or its error asked
  // for the end, or the session is closed. After an error of the kinds Aborted and Unavailable in such a
  // thread it makes the session anew and returns false.
  bool should_stop();

  // Calls end() of the hooks, stops all threads, closes the session. Throws the error of a thread or a hook,
  // after all is closed; FailedPrecondition when closed before. May end the process (handle_signals).
  void close();
  bool closed() const;

  // Calls `body` with this session and closes. OutOfRange and StopIteration that leave the body are a normal
  // end, and so is Cancelled because of a signal. After every other error the hooks' end() is not called, and
  // it is thrown again. Returns why it stopped.
  StopReason close_after(const std::function<void(MonitoredSession&)>& body);

  // Why it stops or stopped; kNone while it does not.
  StopReason stop_reason() const;

  Graph& graph() const;
  // The session without hooks, until the next recovery or close. Throws FailedPrecondition when closed, and
  // after a recovery that failed.
  Session& raw_session() const;

 protected:
  enum class Recovery { kOn, kOff };
  MonitoredSession(Graph& graph, MonitoredSessionOptions options, Recovery recovery);

 private:
  friend class StepContext;
  struct State;
  void run_into(std::span<const Fetch> fetches, std::span<const Feed> feeds, const RunOptions& options,
                Tensor* out);
  void run_step(const std::function<void(StepContext&)>& step_fn);
  std::unique_ptr<State> state_;
};

struct SingularMonitoredSessionOptions {
  std::vector<Hook> hooks = {};
  Scaffold scaffold = {};
  std::string master = "";
  SessionOptions config = {};
  std::string checkpoint_dir = "";
  double stop_grace_period_secs = 120;
  std::string checkpoint_filename_with_path = "";
  bool handle_signals = true;
  Clock* clock = nullptr;
};

// The same of a chief's session, without recovery: Aborted and Unavailable reach the caller.
class SingularMonitoredSession final : public MonitoredSession {
 public:
  explicit SingularMonitoredSession(Graph& graph, SingularMonitoredSessionOptions options = {});
};

}  // namespace runnel
