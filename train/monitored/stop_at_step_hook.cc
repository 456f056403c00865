// The step that counts is the one after the run, whatever else the run did.
#include "train/monitored/stop_at_step_hook.h"

#include <limits>
#include <memory>

#include "graph/error.h"
#include "train/supervisor/coordinator.h"
#include "train/supervisor/stop_reason.h"

namespace runnel {
namespace {

std::string reached(std::int64_t step) { return cat("global step ", step, " is reached"); }

// `count` steps after `start`, or the last step that can be counted. Requires: count is 0 or more.
std::int64_t step_after(std::int64_t start, std::int64_t count) {
  constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();
  return start > kLast - count ? kLast : start + count;
}

}  // namespace

StopAtStepHook::StopAtStepHook(StopAtStepHookOptions options) : options_(options) {
  if (options_.num_steps.has_value() == options_.last_step.has_value())
    throw InvalidArgument(cat("StopAtStepHook was given ", options_.num_steps ? "both" : "neither",
                              " of num_steps and last_step: give one of them"),
                          options_.where);
  const std::int64_t given = options_.num_steps ? *options_.num_steps : *options_.last_step;
  if (given < 0)
    throw InvalidArgument(cat("StopAtStepHook cannot stop at step ", given, ": give 0 or more"),
                          options_.where);
}

void StopAtStepHook::begin(Graph& graph) { step_ = GlobalStepReader(graph, name()); }

void StopAtStepHook::after_create_session(Session& session, Coordinator& coord) {
  const std::int64_t start = step_.now(session);
  if (!options_.last_step) options_.last_step = step_after(start, *options_.num_steps);
  if (start >= *options_.last_step)
    coord.request_stop(StopReason{.cause = StopCause::kStepsReached, .text = reached(start)});
}

std::optional<SessionRunArgs> StopAtStepHook::before_run(SessionRunContext&) {
  return SessionRunArgs{.fetches = step_.fetches()};
}

void StopAtStepHook::after_run(SessionRunContext& context, const SessionRunValues& values) {
  const std::int64_t step = step_.after(context, values);
  if (step >= *options_.last_step) context.request_stop(StopCause::kStepsReached, reached(step));
}

Hook stop_at_step(std::int64_t last_step, Location where) {
  return std::make_shared<StopAtStepHook>(StopAtStepHookOptions{.last_step = last_step, .where = where});
}
Hook stop_after_steps(std::int64_t num_steps, Location where) {
  return std::make_shared<StopAtStepHook>(StopAtStepHookOptions{.num_steps = num_steps, .where = where});
}

}  // namespace runnel
