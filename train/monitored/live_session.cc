// The order of a start is TensorFlow's: session, queue runners, hooks.
#include "train/monitored/live_session.h"

#include <utility>

#include "graph/dataflow.h"
#include "graph/error.h"
#include "graph/log.h"
#include "train/supervisor/queue_runner.h"

namespace runnel {

LiveSession::LiveSession(SessionCreator& creator, std::span<const Hook> hooks, Coordinator& whole)
    : coord_({.clean_stop_exception_types = {}, .clock = &whole.clock()}),
      with_whole_(whole.on_stop([this, &whole] { coord_.request_stop(whole.stop_reason()); })) {
  session_ = creator.create_session(&coord_);
  if (!session_) throw InvalidArgument("the session creator gave no session");
  end_waits_ = coord_.on_stop(
      [this, session = session_->share()] { session->stop_waiting(coord_.stop_reason().text); });
  try {
    if (!session_->graph().collection(keys::kQueueRunners).empty()) start_queue_runners(*session_, &coord_);
    for (const Hook& hook : hooks) hook->after_create_session(*session_, coord_);
  } catch (...) {
    coord_.request_stop(
        StopReason{.cause = StopCause::kRequested, .text = "the session could not be started"});
    session_->close();
    throw;
  }
}

LiveSession::~LiveSession() {
  if (!session_->closed()) session_->close();
}

void LiveSession::close(double stop_grace_period_secs) {
  coord_.request_stop(StopReason{.cause = StopCause::kRequested, .text = "the session is being closed"});
  const struct CloseSession {
    Session& session;
    ~CloseSession() { session.close(); }
  } close_session{*session_};
  coord_.join({.stop_grace_period_secs = stop_grace_period_secs});
}

}  // namespace runnel
