// Ending a run: threads, the last save, logs, the session, the process; and managed runs from their beginning
// to their end.
#include <optional>
#include <utility>

#include "graph/error.h"
#include "graph/log.h"
#include "train/supervisor/carried_error.h"
#include "train/supervisor/close_session.h"
#include "train/supervisor/stop_signals.h"
#include "train/supervisor/supervisor_state.h"

namespace runnel {
void Supervisor::State::save_last(const Run& last) {
  if (!options.final_save || !last.checkpoints) return;
  // A save that was running when a signal came has the time that others had not.
  const double rest = options.stop_grace_secs - grace_after(coord.stop_reason(), options.stop_grace_secs);
  if (last.checkpoints.alive() && rest > 0)
    coord.join({.threads = {last.checkpoints}, .stop_grace_period_secs = rest});
  if (last.checkpoints.alive()) {
    log_error("the last step is not saved: the checkpoint service hangs in a save before it");
  } else if (last.session->closed()) {
    log_warning("the last step is not saved: the session was closed before stop()");
  } else {
    last.saver->save(*last.session);
  }
}

// What cannot be written is said, and no reason for a run to fail.
void Supervisor::State::close_writer() {
  try {
    writer->add_session_log(SessionStatus::kStop);
    writer->close();
  } catch (const Error& error) {
    log_warning(cat("the event file is not whole: ", error.message()));
  }
}

void Supervisor::stop(const StopOptions& o, bool failed) {
  State& s = *state_;
  s.coord.request_stop(StopReason{.cause = StopCause::kRequested, .text = "stop() was called"});
  std::exception_ptr error;
  try {
    s.coord.join({.threads = o.threads,
                  .stop_grace_period_secs = grace_after(s.coord.stop_reason(), s.options.stop_grace_secs),
                  .ignore_live_threads = o.ignore_live_threads,
                  .strict = s.options.strict_threads});
  } catch (...) {
    if (!s.coord.joined()) throw;  // on a thread of the run itself: the stop is asked for, and no more
    error = std::current_exception();
  }
  std::unique_lock hold(s.mutex);
  const Run last = std::exchange(s.run, {});
  hold.unlock();
  if (last.session && !failed && s.coord.stop_reason().cause != StopCause::kError) {
    try {
      s.save_last(last);
    } catch (...) {
      log_error(cat("the last step is not saved: ", text_of(std::current_exception())));
      if (!error) error = std::current_exception();
    }
  }
  if (o.close_summary_writer && std::exchange(s.writing, false)) s.close_writer();
  if (error) std::rethrow_exception(error);
}

void Supervisor::stop(StopOptions options) { stop(options, false); }

void Supervisor::managed_session(const std::function<void(Session&)>& body, ManagedSessionOptions o) {
  Coordinator& coord = state_->coord;
  coord.clear_stop();
  std::optional<StopSignals> signals;
  if (state_->options.handle_signals) signals.emplace(coord);
  std::shared_ptr<Session> session;
  std::exception_ptr error;
  try {
    session = prepare(
        {.master = o.master, .config = o.config, .start_standard_services = o.start_standard_services});
    body(*session);
    coord.request_stop(StopReason{.cause = StopCause::kRequested, .text = "the training loop ended"});
  } catch (...) {
    error = std::current_exception();
    const std::optional<Code> code = code_of(error);
    if (code == Code::kOutOfRange || (code == Code::kCancelled && coord.should_stop())) {
      coord.request_stop(std::exchange(error, nullptr));
    } else {
      coord.request_stop(error);
    }
  }
  try {
    stop(StopOptions{.close_summary_writer = o.close_summary_writer}, error != nullptr);
  } catch (...) {
    error = std::current_exception();
  }
  if (session) close_session(std::move(session), coord);
  const StopReason reason = coord.stop_reason();
  if (error && is_signalled(reason)) log_error(cat("training ended with an error: ", text_of(error)));
  if (signals) exit_if_signalled(reason);
  if (error) std::rethrow_exception(error);
}

void basic_train_loop(Supervisor& supervisor, const std::function<void(Session&)>& train_step,
                      const std::string& master) {
  for (;;) {
    try {
      supervisor.managed_session(
          [&](Session& session) {
            while (!supervisor.should_stop()) train_step(session);
          },
          {.master = master});
      return;
    } catch (const Aborted& error) {
      log_warning(cat("training was aborted and begins anew: ", error.message()));
    }
  }
}

}  // namespace runnel
