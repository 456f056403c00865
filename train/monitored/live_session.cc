// The order of a start is TensorFlow's: session, queue runners, hooks.
#include "train/monitored/live_session.h"

#include <exception>
#include <utility>

#include "graph/dataflow.h"
#include "graph/error.h"
#include "graph/log.h"
#include "train/supervisor/carried_error.h"
#include "train/supervisor/close_session.h"
#include "train/supervisor/queue_runner.h"
#include "train/supervisor/stop_signals.h"

namespace runnel {

LiveSession::LiveSession(SessionCreator& creator, std::span<const Hook> hooks, Coordinator& whole,
                         double stop_grace_period_secs)
    : grace_(stop_grace_period_secs),
      coord_(std::make_shared<Coordinator>(
          CoordinatorOptions{.clean_stop_exception_types = {}, .clock = &whole.clock()})),
      with_whole_(whole.on_stop([this, &whole] { coord_->request_stop(whole.stop_reason()); })) {
  try {
    start(creator, hooks);
  } catch (...) {
    abandon("the session could not be started");
    throw;
  }
}

void LiveSession::start(SessionCreator& creator, std::span<const Hook> hooks) {
  session_ = creator.create_session(coord_.get());
  if (!session_) throw InvalidArgument("the session creator gave no session");
  end_waits_ = coord_->on_stop(
      [this, session = session_->share()] { session->stop_waiting(coord_->stop_reason().text); });
  if (!session_->graph().collection(keys::kQueueRunners).empty())
    start_queue_runners(*session_, coord_.get());
  for (const Hook& hook : hooks) hook->after_create_session(*session_, *coord_);
}

LiveSession::~LiveSession() {
  if (!closed_) abandon("the session was given up");
}

// What is the matter is told by another error, or by nobody.
void LiveSession::abandon(const char* why) {
  coord_->request_stop(StopReason{.cause = StopCause::kRequested, .text = why});
  try {
    close();
  } catch (...) {
    log_error(cat(why, ", and a thread of it had failed: ", text_of(std::current_exception())));
  }
}

void LiveSession::close() {
  closed_ = true;
  coord_->request_stop(StopReason{.cause = StopCause::kRequested, .text = "the session is being closed"});
  const struct AtEnd {
    LiveSession& life;
    ~AtEnd() {
      if (life.session_) close_session(life.session_, *life.coord_);
      // Hooks give their threads references to both.
      for (const CoordinatedThread& left : life.coord_->stragglers()) left.on_end([kept = life.coord_] {});
    }
  } at_end{*this};
  coord_->join({.stop_grace_period_secs = grace_after(coord_->stop_reason(), grace_)});
}

}  // namespace runnel
