// See follow_stop_hook.h.
#include "train/estimator/follow_stop_hook.h"

namespace runnel {

void FollowStopHook::after_create_session(Session&, Coordinator& coord) {
  link_ =
      outer_->on_stop([outer = outer_, inner = coord.share()] { inner->request_stop(outer->stop_reason()); });
}

void FollowStopHook::end(Session&) { link_ = {}; }

}  // namespace runnel
