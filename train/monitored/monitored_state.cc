// Recovery, stops and closing.
#include "train/monitored/monitored_state.h"

#include <algorithm>
#include <utility>

#include "graph/log.h"
#include "train/supervisor/carried_error.h"

namespace runnel {
namespace {

// Seconds before the third attempt to make a session, doubled for each further one up to the most. TensorFlow
// tries for ever without a pause.
constexpr double kFirstPause = 1, kLongestPause = 30;

bool is_loss(const std::exception_ptr& error) {
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

double checked_grace(double seconds) {
  if (seconds >= 0) return seconds;
  throw InvalidArgument(cat("stop_grace_period_secs is ", seconds, "; it must be 0, for none, or more"));
}

}  // namespace

MonitoredSession::State::State(Graph& g, MonitoredSessionOptions&& options, Recovery recovery)
    : graph(g.shared()),
      creator(creator_of(g, options)),
      grace(checked_grace(options.stop_grace_period_secs)),
      recover(recovery == Recovery::kOn),
      whole({.clean_stop_exception_types = {}, .clock = options.clock}),
      hooked(std::move(options.hooks)) {
  if (options.handle_signals) signals.emplace(whole);
}

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
      live = std::make_shared<LiveSession>(*creator, hooked.hooks(), whole, grace);
      return;
    } catch (const Error& error) {
      if (!recover || !is_lost(error)) throw;
      log_info(cat("The session could not be made and is tried again: ", error.message()));
    }
  }
}

const std::shared_ptr<LiveSession>& MonitoredSession::State::life() const {
  if (live) return live;
  throw FailedPrecondition(closed ? "the MonitoredSession is closed: it has no session"
                                  : "the MonitoredSession has no session: the last one was lost, and making "
                                    "another one failed");
}

// Throws the error of a thread, but for those that a recovery is for.
void MonitoredSession::State::end_life() {
  const std::shared_ptr<LiveSession> ending = std::move(live);
  try {
    ending->close();
  } catch (const Error& error) {
    if (!recover || !is_lost(error)) throw;
    log_error(cat("Closing the session failed: ", error.message()));
  }
}

void MonitoredSession::State::lost(const char* what, const std::string& error) {
  log_info(cat(what, "; the session is closed and made anew from the newest checkpoint: ", error));
  end_life();
}

// --- running

void MonitoredSession::State::require_going_on() const {
  if (closed) throw FailedPrecondition("the MonitoredSession is closed: make another one to run more");
  if (stop.cause != StopCause::kNone && !repeats)
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
  const struct NoteStop {
    State& state;
    ~NoteStop() {
      if (const auto& request = state.hooked.stop()) state.note(reason_of(*request));
    }
  } note_stop{*this};
  try {
    hooked.run(in.session(), fetches, feeds, options, out);
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
  if (recover && why.error && is_loss(why.error)) {
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
  const std::shared_ptr<LiveSession> last = live;
  for (const Hook& hook : hooked.hooks()) {
    try {
      hook->end(last->session());
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

}  // namespace runnel
