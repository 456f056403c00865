// The first trigger of a session starts the clock, so that the time of the first run, which makes the plan,
// counts for nothing.
#include "train/monitored/step_counter_hook.h"

#include <utility>

#include "graph/error.h"
#include "graph/log.h"
#include "summary/file_writer.h"
#include "summary/file_writer_cache.h"
#include "train/monitored/session_notes.h"

namespace runnel {
namespace {

SecondOrStepTimerOptions period_of(const StepCounterHookOptions& o) {
  if (o.every_n_steps.has_value() == o.every_n_secs.has_value())
    throw InvalidArgument(
        cat("StepCounterHook counts by steps or by seconds and was given ",
            o.every_n_secs ? "both: say .every_n_steps = std::nullopt, or leave out every_n_secs"
                           : "neither: give every_n_steps or every_n_secs"),
        o.where);
  return {.every_secs = o.every_n_secs,
          .every_steps = o.every_n_steps,
          .clock = o.clock,
          .name = "StepCounterHook",
          .where = o.where};
}

}  // namespace

StepCounterHook::StepCounterHook(StepCounterHookOptions options)
    : options_(std::move(options)), timer_(period_of(options_)) {}

void StepCounterHook::begin(Graph& graph) {
  step_ = GlobalStepReader(graph, name());
  tag_ = step_.variable().name() + "/sec";
  writer_ = options_.summary_writer;
  if (!writer_ && !options_.output_dir.empty()) writer_ = FileWriterCache::get(options_.output_dir);
}

void StepCounterHook::after_create_session(Session& session, Coordinator&) {
  timer_.reset();
  step_before_.reset();
  if (writer_) start_log(session, step_, writer_);
}

std::optional<SessionRunArgs> StepCounterHook::before_run(SessionRunContext&) {
  return SessionRunArgs{.fetches = step_.fetches()};
}

void StepCounterHook::after_run(SessionRunContext& context, const SessionRunValues& values) {
  const std::int64_t step = step_.after(context, values);
  if (timer_.should_trigger_for_step(step))
    if (const auto elapsed = timer_.update_last_triggered_step(step)) record(*elapsed, step);
  warn_if_it_stands(step);
  step_before_ = step;
}

void StepCounterHook::record(const TimerElapsed& elapsed, std::int64_t step) {
  if (elapsed.secs <= 0) return;  // the clock has not moved: no rate
  const double rate = static_cast<double>(elapsed.steps) / elapsed.secs;
  if (writer_) writer_->scalar(tag_, rate, step);
  log_info(cat(tag_, ": ", rate));
}

void StepCounterHook::warn_if_it_stands(std::int64_t step) {
  constexpr int kMostWarnings = 5;
  if (step != step_before_ || warnings_ == kMostWarnings) return;
  ++warnings_;
  log_warning(cat("the global step '", step_.variable().name(), "' has not been increased, it is ", step,
                  " after two runs: give the variable to minimize or apply_gradients as .global_step"));
}

Hook step_counter(StepCounterHookOptions options) {
  return std::make_shared<StepCounterHook>(std::move(options));
}

}  // namespace runnel
