// A call that is going on in a session: closing waits for it.
#pragma once

#include "graph/runtime/engine.h"

namespace runnel {

class Running {
 public:
  // Throws FailedPrecondition when the session is closed.
  explicit Running(Engine& engine) : engine_(engine) { engine.begin_step(); }
  ~Running() { engine_.end_step(); }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

 private:
  Engine& engine_;
};

}  // namespace runnel
