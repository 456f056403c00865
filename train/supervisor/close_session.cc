// A session closes, at the latest, when its last owner lets go of it.
#include "train/supervisor/close_session.h"

#include <vector>

#include "graph/runtime/engine.h"

namespace runnel {

void close_session(std::shared_ptr<Session> session, const Coordinator& coord) {
  const std::vector<CoordinatedThread> left = coord.stragglers();
  if (left.empty()) return session->close();
  session->engine()->refuse_steps();
  for (const CoordinatedThread& thread : left) thread.on_end([session] {});
}

}  // namespace runnel
