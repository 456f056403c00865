// The period counts from the step before the first run.
#include "train/monitored/profiler_hook.h"

#include <utility>

#include "graph/error.h"
#include "graph/io/file_system.h"
#include "graph/log.h"
#include "graph/runtime/chrome_trace.h"
#include "summary/file_writer.h"
#include "summary/file_writer_cache.h"

namespace runnel {

ProfilerHook::ProfilerHook(ProfilerHookOptions options)
    : options_(std::move(options)),
      timer_({.every_secs = options_.save_secs,
              .every_steps = options_.save_steps,
              .clock = options_.clock,
              .name = "ProfilerHook",
              .where = options_.where}) {}

void ProfilerHook::begin(Graph& graph) {
  step_ = GlobalStepReader(graph, name());
  writer_ = FileWriterCache::get(options_.output_dir);
}

void ProfilerHook::after_create_session(Session& session, Coordinator&) {
  timer_.reset();
  next_step_.reset();
  start_ = step_.now(session);
}

std::optional<SessionRunArgs> ProfilerHook::before_run(SessionRunContext&) {
  requested_ = next_step_ && timer_.should_trigger_for_step(*next_step_);
  SessionRunArgs args{.fetches = step_.fetches()};
  if (requested_) args.options.run_metadata = &recording_;
  return args;
}

void ProfilerHook::after_run(SessionRunContext& context, const SessionRunValues& values) {
  const std::int64_t step = step_.after(context, values);
  if (!next_step_) timer_.update_last_triggered_step(start_);
  next_step_ = step + 1;
  if (!requested_ || !values.run_metadata) return;
  timer_.update_last_triggered_step(step);
  save(context.session(), step, *values.run_metadata);
}

void ProfilerHook::save(Session& session, std::int64_t step, const RunMetadata& metadata) {
  const std::string path = join_path(options_.output_dir, cat("timeline-", step, ".json"));
  log_info(cat("Saving timeline for ", step, " into '", path, "'."));
  try {
    write_file_atomically(session.files(), path, chrome_trace(metadata));
    writer_->add_run_metadata(metadata, cat("step_", step), step);
  } catch (const Error& error) {  // a log must not stop training
    log_warning(cat("ProfilerHook: the recording of step ", step, " is not written whole: ", error.what()));
  }
}

Hook profiler(ProfilerHookOptions options) { return std::make_shared<ProfilerHook>(std::move(options)); }

}  // namespace runnel
