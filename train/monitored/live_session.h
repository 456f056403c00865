// One life of a monitored session: the session of a creator, its coordinator with the threads that feed it,
// and what ends all of its waiting. A recovery ends one life and begins the next.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "graph/runtime/session.h"
#include "train/monitored/hook.h"
#include "train/monitored/session_creators.h"
#include "train/supervisor/coordinator.h"

namespace runnel {

// A stop of `whole`, which outlives all lives (a signal asks it), stops this life, too.
class LiveSession {
 public:
  // Creates the session, starts its queue runners, and tells the hooks. If any of it throws, all is ended as
  // by close(). `whole` is borrowed.
  LiveSession(SessionCreator& creator, std::span<const Hook> hooks, Coordinator& whole,
              double stop_grace_period_secs);
  // Closes if nobody has; what that throws is logged.
  ~LiveSession();
  LiveSession(const LiveSession&) = delete;
  LiveSession& operator=(const LiveSession&) = delete;

  // Good as long as this object, also after close().
  Session& session() const { return *session_; }
  Coordinator& coord() { return *coord_; }

  // Stops the threads, waits for them no longer than the grace period, and ends the session in any case: one
  // that a thread is still busy with is left to that thread, with the coordinator. Throws the error that
  // stopped the coordinator, if one did. Once.
  void close();

 private:
  void start(SessionCreator& creator, std::span<const Hook> hooks);
  void abandon(const char* why);

  const double grace_;
  const std::shared_ptr<Coordinator> coord_;
  OnStop with_whole_;
  std::shared_ptr<Session> session_;  // null until it is made
  bool closed_ = false;
  OnStop end_waits_;  // after the session, which its call holds
};

}  // namespace runnel
