// Names of the causes, and the exit code as shells count it.
#include "train/supervisor/stop_reason.h"

namespace runnel {

const char* name_of(StopCause cause) {
  switch (cause) {
    case StopCause::kNone: return "none";
    case StopCause::kRequested: return "requested";
    case StopCause::kStepsReached: return "steps reached";
    case StopCause::kInputExhausted: return "input exhausted";
    case StopCause::kSignal: return "signal";
    case StopCause::kHook: return "hook";
    case StopCause::kError: return "error";
  }
  return "none";
}

int StopReason::exit_code() const {
  if (cause == StopCause::kSignal) return 128 + signal;
  return normal() ? 0 : 1;
}

}  // namespace runnel
