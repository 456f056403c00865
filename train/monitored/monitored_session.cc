// The public side: each call goes to the state.
#include "train/monitored/monitored_session.h"

#include <exception>

#include "graph/log.h"
#include "train/monitored/monitored_state.h"
#include "train/supervisor/carried_error.h"

namespace runnel {

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
  state_->with_recovery([&](LiveSession&) {
    StepContext context(*this);
    step_fn(context);
  });
}

bool MonitoredSession::should_stop() { return state_->should_stop(); }
void MonitoredSession::close() { state_->close(true); }
bool MonitoredSession::closed() const { return state_->closed; }
StopReason MonitoredSession::stop_reason() const { return state_->reason(); }
Graph& MonitoredSession::graph() const { return *state_->graph; }

Session& MonitoredSession::raw_session() const { return state_->life()->session(); }

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

Session& StepContext::session() const { return monitored_->raw_session(); }

void StepContext::run_into(std::span<const Fetch> fetches, std::span<const Feed> feeds,
                           const RunOptions& options, Tensor* out) {
  MonitoredSession::State& state = *monitored_->state_;
  state.require_going_on();
  const std::shared_ptr<LiveSession> held = state.life();
  state.run_hooked(*held, fetches, feeds, options, out);
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
