// See stop_after_n_evals_hook.h.
#include "train/estimator/stop_after_n_evals_hook.h"

#include <algorithm>

#include "graph/error.h"
#include "graph/log.h"
#include "train/supervisor/stop_reason.h"

namespace runnel {

StopAfterNEvalsHook::StopAfterNEvalsHook(Output evals_completed, std::optional<std::int64_t> num_evals)
    : evals_completed_(evals_completed), num_evals_(num_evals) {}

std::optional<SessionRunArgs> StopAfterNEvalsHook::before_run(SessionRunContext&) {
  return SessionRunArgs{.fetches = {evals_completed_}};
}

void StopAfterNEvalsHook::after_run(SessionRunContext& context, const SessionRunValues& values) {
  const std::int64_t completed = integers(values.results[0])[0];
  if (!num_evals_) return;
  log_progress(completed);
  if (completed >= *num_evals_)
    context.request_stop(StopCause::kStepsReached,
                         cat(completed, " of ", *num_evals_, " batches are evaluated"));
}

// A tenth at a time, as TensorFlow does.
void StopAfterNEvalsHook::log_progress(std::int64_t completed) const {
  constexpr std::int64_t kLines = 10;
  const std::int64_t every = std::max<std::int64_t>(1, *num_evals_ / kLines);
  if (completed % every == 0 || completed == *num_evals_)
    log_info(cat("Evaluation [", completed, "/", *num_evals_, "]"));
}

}  // namespace runnel
