// SIGTERM and Ctrl-C as a request to stop: the step that runs is finished and saved, logs are closed, and the
// process ends with 128 + signal, as batch systems and shells expect of a process that a signal ended. This
// is the only place where the library touches signals or ends the process.
#pragma once

#include "train/supervisor/coordinator.h"
#include "train/supervisor/stop_reason.h"

namespace runnel {

// While one lives, the first SIGTERM or SIGINT asks every coordinator that has one to stop, with
// StopCause::kSignal, and a second signal ends the process at once with 128 + that signal. The first one that
// is made installs the handlers, the last one that goes puts back those that were there. A signal that was
// ignored (by nohup, or a shell for a job in the background) stays ignored. A forked child is ended by these
// signals as if there were no handlers. May be made on any thread; throws ResourceExhausted if there is no
// thread for it.
class [[nodiscard]] StopSignals {
 public:
  // Borrows `coord`. One that is made after the first signal stops it at once.
  explicit StopSignals(Coordinator& coord);
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

 private:
  Coordinator& coord_;
};

// True if a signal has come while a StopSignals lives.
bool signal_has_come();
// True if a signal asked for the stop, or came after another reason while a StopSignals lives.
bool is_signalled(const StopReason& reason);
// How many seconds threads have to end: as many as given, but after a signal no more than 5, because a batch
// system gives the whole process some 30, and the last step may have to be saved in them.
double grace_after(const StopReason& reason, double grace_secs);
// Ends the process as `exit` does, with 128 + signal, if a signal asked for the stop, or came after another
// reason while a StopSignals lives; else does nothing. Nor does it while several live: another one has still
// to save, and ends the process then. To be called when everything is saved and closed, before the last
// StopSignals goes. Objects on the stack of the caller are not destroyed.
void exit_if_signalled(const StopReason& reason);

}  // namespace runnel
