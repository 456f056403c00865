// What a hook does where it does not say: nothing; and how it asks for the end.
#include "train/monitored/hook.h"

namespace runnel {

void SessionRunContext::request_stop(std::string why) {
  if (!stop_) stop_ = StopRequest{.cause = {}, .hook = hook_ ? hook_->name() : "", .why = std::move(why)};
}

void SessionRunContext::request_stop(StopCause cause, std::string why) {
  if (!stop_) stop_ = StopRequest{.cause = cause, .hook = hook_ ? hook_->name() : "", .why = std::move(why)};
}

SessionRunHook::~SessionRunHook() = default;
void SessionRunHook::begin(Graph&) {}
void SessionRunHook::after_create_session(Session&, Coordinator&) {}
std::optional<SessionRunArgs> SessionRunHook::before_run(SessionRunContext&) { return {}; }
void SessionRunHook::after_run(SessionRunContext&, const SessionRunValues&) {}
void SessionRunHook::end(Session&) {}

}  // namespace runnel
