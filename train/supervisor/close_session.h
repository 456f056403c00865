// Ending a session whose threads have been waited for, maybe in vain: a step of one that was left behind may
// hang in a file, and nobody else shall wait for it.
#pragma once

#include <memory>

#include "graph/runtime/session.h"
#include "train/supervisor/coordinator.h"

namespace runnel {

// Refuses later steps and cancels those that run. Waits for these, unless join() of `coord` has left threads
// behind: then the session belongs to them, and the last one that ends ends it.
void close_session(std::shared_ptr<Session> session, const Coordinator& coord);

}  // namespace runnel
