// Recovery, stops and closing. What may be lost and made anew is a LiveSession; what lasts is here: the
// hooks, the coordinator that signals stop, and the reason.
#include "train/monitored/monitored_session.h"

#include <algorithm>
#include <exception>

#include "graph/log.h"
#include "train/monitored/hooked_run.h"
#include "train/monitored/live_session.h"
#include "train/supervisor/carried_error.h"
#include "train/supervisor/coordinator.h"
#include "train/supervisor/stop_signals.h"

namespace runnel {
namespace {

// Seconds before the second attempt to make a session, doubled for each further one up to the most.
// TensorFlow tries without a pause.
constexpr double kFirstPause = 1, kLongestPause = 30;

// A part of the training is gone, not the training.
bool is_lost(const Error& error) {
  return error.code() == Code::kAborted || error.code() == Code::kUnavailable;
}
bool is_lost(const std::exception_ptr& error) {
  const std::optional<Code> code = code_of(error);
  return code == Code::kAborted || code == Code::kUnavailable;
}

std::shared_ptr<SessionCreator> creator_of(Graph& graph, const MonitoredSessionOptions& options) {
  if (options.session_creator) return options.session_creator;
  return std::make_shared<ChiefSessionCreator>(graph, ChiefSessionCreatorOptions{.clock = options.clock});
}

StopReason reason_of(const SessionRunContext::StopRequest& request) {
  const StopCause cause = request.cause.value_or(StopCause::kHook);
  const std::string who = request.hook.empty() ? "a hook" : request.hook;
  return {.cause = cause, .text = who + (request.why.empty() ? " asked for it" : ": " + request.why)};
}

}  // namespace

struct MonitoredSession::State {
  State(Graph& g, MonitoredSessionOptions&& options, Recovery recovery)
      : graph(g.shared()),
        creator(creator_of(g, options)),
        grace(options.stop_grace_period_secs),
        recover(recovery == Recovery::kOn),
        whole({.clean_stop_exception_types = {}, .clock = options.clock}),
        hooked(std::move(options.hooks)) {
    if (options.handle_signals) signals.emplace(whole);
  }

  void begin();
  void begin_life();
  void end_life();
  void lost(const char* what, const std::string& error);

  template <class Attempt>
  void with_recovery(Attempt attempt);
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
  std::unique_ptr<LiveSession> live;  // null if a recovery failed, and when closed
  bool closed = false;
  StopReason stop;             // the first one noted
  bool ended_cleanly = false;  // the last run threw, and it was a normal end
  StopReason last_end;         // what it was, if nothing else is the reason
};

// --- starting and beginning again

void MonitoredSession::State::begin() {
  try {
    for (const Hook& hook : hooked.hooks()) hook->begin(*graph);
    begin_life();
  } catch (...) {
    if (whole.should_stop()) log_info(cat("No session was made: ", text_of(std::current_exception())));
    let_go();
    throw;
  }
}

void MonitoredSession::State::begin_life() {
  for (double pause = 0, next = 0;;
       pause = std::exchange(next, std::clamp(2 * next, kFirstPause, kLongestPause))) {
    if (pause > 0 ? whole.wait_for_stop(pause) : whole.should_stop())
      throw Cancelled(cat("no session was made: ", whole.stop_reason().text));
    try {
      live = std::make_unique<LiveSession>(*creator, hooked.hooks(), whole);
      return;
    } catch (const Error& error) {
      if (!recover || !is_lost(error)) throw;
      log_info(cat("The session could not be made and is tried again: ", error.message()));
    }
  }
}

// Throws the error of a thread, but for those that a recovery is for.
void MonitoredSession::State::end_life() {
  const std::unique_ptr<LiveSession> ending = std::move(live);
  try {
    ending->close(grace);
  } catch (const Error& error) {
    if (!recover || !is_lost(error)) throw;
    log_error(cat("Closing the session failed: ", error.message()));
  }
}

void MonitoredSession::State::lost(const char* what, const std::string& error) {
  log_info(cat(what, "; the session is closed and made anew from the newest checkpoint: ", error));
  end_life();
}

// Calls `attempt` with a session until it is not lost meanwhile.
template <class Attempt>
void MonitoredSession::State::with_recovery(Attempt attempt) {
  ended_cleanly = false;
  last_end = {};
  try {
    for (;;) {
      require_going_on();
      try {
        if (!live) begin_life();
        return attempt(*live);
      } catch (const Error& error) {
        if (!recover || !is_lost(error)) throw;
        if (live) lost("A run has failed", error.message());
      }
    }
  } catch (const Error& error) {
    remember_end(error);
    throw;
  }
}

// --- running

void MonitoredSession::State::require_going_on() const {
  if (closed) throw FailedPrecondition("the MonitoredSession is closed: make another one to run more");
  if (stop.cause != StopCause::kNone)
    throw FailedPrecondition(cat("Run called even after should_stop requested (", stop.text,
                                 "): ask should_stop() before each run"));
  if (whole.should_stop()) throw Cancelled(cat("no more runs: ", whole.stop_reason().text));
}

// If the threads stopped for an error, that is what there is to tell: a run that a stop has cancelled is none
// of its own, and a lost session is begun anew.
void MonitoredSession::State::raise_recorded_instead(LiveSession& in, bool cancelled) {
  try {
    in.coord().raise_requested_exception();
  } catch (const Error& error) {
    if (cancelled || is_lost(error)) throw;
  } catch (...) {
    if (cancelled) throw;
  }
}

void MonitoredSession::State::run_hooked(LiveSession& in, std::span<const Fetch> fetches,
                                         std::span<const Feed> feeds, const RunOptions& options,
                                         Tensor* out) {
  try {
    if (const auto request = hooked.run(in.session(), fetches, feeds, options, out))
      note(reason_of(*request));
  } catch (const Error& error) {
    if (!is_lost(error)) raise_recorded_instead(in, error.code() == Code::kCancelled);
    throw;
  } catch (...) {
    raise_recorded_instead(in, false);
    throw;
  }
}

// --- stopping

StopReason MonitoredSession::State::reason() const {
  if (stop.cause != StopCause::kNone) return stop;
  if (whole.should_stop()) return whole.stop_reason();
  if (live && live->coord().should_stop()) return live->coord().stop_reason();
  return {};
}

void MonitoredSession::State::note(StopReason reason) {
  if (stop.cause == StopCause::kNone) stop = std::move(reason);
}

// The end of the input, or of waiting, because a stop was asked for.
bool MonitoredSession::State::is_clean_end(const Error& error) const {
  if (error.code() == Code::kOutOfRange) return true;
  if (error.code() != Code::kCancelled) return false;
  const StopCause cause = reason().cause;
  return cause != StopCause::kNone && cause != StopCause::kError;
}

void MonitoredSession::State::remember_end(const Error& error) {
  ended_cleanly = is_clean_end(error);
  if (error.code() == Code::kOutOfRange)
    last_end = {.cause = StopCause::kInputExhausted,
                .text = "input exhausted: " + error.message(),
                .error = std::current_exception()};
}

bool MonitoredSession::State::should_stop() {
  if (closed || stop.cause != StopCause::kNone || whole.should_stop() || !live) return true;
  if (!live->coord().should_stop()) return false;
  StopReason why = live->coord().stop_reason();
  if (recover && why.error && is_lost(why.error)) {
    lost("A thread has failed", why.text);
    begin_life();
    return false;
  }
  note(std::move(why));
  return true;
}

// --- closing

// All of them are called, also when one throws; the first error counts.
std::exception_ptr MonitoredSession::State::end_hooks() {
  std::exception_ptr first;
  for (const Hook& hook : hooked.hooks()) {
    try {
      hook->end(live->session());
    } catch (...) {
      const std::exception_ptr error = std::current_exception();
      if (first) log_error(cat(hook->name(), " failed at the end: ", text_of(error)));
      if (!first) first = error;
    }
  }
  return first;
}

std::exception_ptr MonitoredSession::State::end_last_life() {
  try {
    if (live) end_life();
    return nullptr;
  } catch (...) {
    return std::current_exception();
  }
}

// The process may end here, before handlers that were there before get the signal back.
void MonitoredSession::State::let_go() {
  live.reset();
  if (!was_finalized) graph->unfinalize();
  if (signals) exit_if_signalled(whole.stop_reason());
  signals.reset();
}

void MonitoredSession::State::close(bool normal) {
  if (closed) throw FailedPrecondition("the MonitoredSession is closed already");
  closed = true;
  note(reason());
  note(std::move(last_end));
  note({.cause = StopCause::kRequested, .text = "the program closed the session"});
  std::exception_ptr error = normal && live ? end_hooks() : nullptr;
  if (const std::exception_ptr later = end_last_life()) {
    if (error) log_error(cat("Closing the session failed, too: ", text_of(later)));
    if (!error) error = later;
  }
  if (error && stop.cause == StopCause::kSignal) log_error(cat("Closing failed: ", text_of(error)));
  if (error && stop.normal()) stop = {.cause = StopCause::kError, .text = text_of(error), .error = error};
  (stop.cause == StopCause::kError ? log_error : log_info)(
      cat("Training stopped (", name_of(stop.cause), "): ", stop.text));
  let_go();
  if (error) std::rethrow_exception(error);
}

// --- the public side

MonitoredSession::MonitoredSession(Graph& graph, MonitoredSessionOptions options)
    : MonitoredSession(graph, std::move(options), Recovery::kOn) {}

MonitoredSession::MonitoredSession(Graph& graph, MonitoredSessionOptions options, Recovery recovery)
    : state_(std::make_unique<State>(graph, std::move(options), recovery)) {
  state_->begin();
}

MonitoredSession::~MonitoredSession() {
  if (state_->closed) return;
  const bool unwinding = std::uncaught_exceptions() > state_->exceptions_before;
  const bool normal = !unwinding || state_->ended_cleanly;
  if (!normal) state_->note({.cause = StopCause::kError, .text = "an error left the training loop"});
  try {
    state_->close(normal);
  } catch (...) {
    log_error(cat("MonitoredSession: closing failed: ", text_of(std::current_exception())));
  }
}

Tensor MonitoredSession::run(Fetch fetch, std::initializer_list<Feed> feeds, const RunOptions& options) {
  Tensor out;
  run_into(std::span(&fetch, 1), std::span(feeds.begin(), feeds.size()), options, &out);
  return out;
}

std::vector<Tensor> MonitoredSession::run(std::span<const Fetch> fetches, std::span<const Feed> feeds,
                                          const RunOptions& options) {
  std::vector<Tensor> out(fetches.size());
  run_into(fetches, feeds, options, out.data());
  return out;
}

void MonitoredSession::run_into(std::span<const Fetch> fetches, std::span<const Feed> feeds,
                                const RunOptions& options, Tensor* out) {
  state_->with_recovery([&](LiveSession& live) { state_->run_hooked(live, fetches, feeds, options, out); });
}

void MonitoredSession::run_step(const std::function<void(StepContext&)>& step_fn) {
  state_->with_recovery([&](LiveSession& live) {
    StepContext context(*this, live.session());
    step_fn(context);
  });
}

bool MonitoredSession::should_stop() { return state_->should_stop(); }
void MonitoredSession::close() { state_->close(true); }
bool MonitoredSession::closed() const { return state_->closed; }
StopReason MonitoredSession::stop_reason() const { return state_->reason(); }
Graph& MonitoredSession::graph() const { return *state_->graph; }

Session& MonitoredSession::raw_session() const {
  if (!state_->live) throw FailedPrecondition("the MonitoredSession is closed: it has no session");
  return state_->live->session();
}

StopReason MonitoredSession::close_after(const std::function<void(MonitoredSession&)>& body) {
  std::exception_ptr error;
  try {
    body(*this);
  } catch (const Error& e) {
    if (!state_->is_clean_end(e)) error = std::current_exception();
    if (!error) state_->remember_end(e);
  } catch (...) {
    error = std::current_exception();
  }
  if (error) state_->stop = {.cause = StopCause::kError, .text = text_of(error), .error = error};
  std::string more;
  try {
    if (!state_->closed) state_->close(!error);
  } catch (...) {
    if (!error) throw;
    const std::string text = text_of(std::current_exception());
    if (text_of(error).find(text) == std::string::npos) more = "; closing failed, too: " + text;
  }
  if (!error) return stop_reason();
  if (more.empty()) std::rethrow_exception(error);
  rethrow_with(error, more);
}

// --- step functions

Tensor StepContext::run_with_hooks(Fetch fetch, std::initializer_list<Feed> feeds,
                                   const RunOptions& options) {
  Tensor out;
  run_into(std::span(&fetch, 1), std::span(feeds.begin(), feeds.size()), options, &out);
  return out;
}

std::vector<Tensor> StepContext::run_with_hooks(std::span<const Fetch> fetches, std::span<const Feed> feeds,
                                                const RunOptions& options) {
  std::vector<Tensor> out(fetches.size());
  run_into(fetches, feeds, options, out.data());
  return out;
}

void StepContext::run_into(std::span<const Fetch> fetches, std::span<const Feed> feeds,
                           const RunOptions& options, Tensor* out) {
  MonitoredSession::State& state = *monitored_->state_;
  state.require_going_on();
  state.run_hooked(*state.live, fetches, feeds, options, out);
}

void StepContext::request_stop() {
  monitored_->state_->note({.cause = StopCause::kRequested, .text = "a step_fn asked for it"});
  throw StopIteration("step_fn has requested the iterations to stop");
}

// --- SingularMonitoredSession

SingularMonitoredSession::SingularMonitoredSession(Graph& graph, SingularMonitoredSessionOptions options)
    : MonitoredSession(
          graph,
          {.session_creator = std::make_shared<ChiefSessionCreator>(
               graph, ChiefSessionCreatorOptions{.scaffold = std::move(options.scaffold),
                                                 .master = std::move(options.master),
                                                 .config = std::move(options.config),
                                                 .checkpoint_dir = std::move(options.checkpoint_dir),
                                                 .checkpoint_filename_with_path =
                                                     std::move(options.checkpoint_filename_with_path),
                                                 .clock = options.clock}),
           .hooks = std::move(options.hooks),
           .stop_grace_period_secs = options.stop_grace_period_secs,
           .handle_signals = options.handle_signals,
           .clock = options.clock},
          Recovery::kOff) {}

}  // namespace runnel
