// Which run takes summaries is decided before it, by the step that it should reach; they are labelled with
// the step that it did reach.
#include "train/monitored/summary_saver_hook.h"

#include <utility>

#include "graph/error.h"
#include "summary/file_writer.h"
#include "summary/file_writer_cache.h"
#include "train/monitored/session_notes.h"

namespace runnel {

SummarySaverHook::SummarySaverHook(SummarySaverHookOptions options)
    : options_(std::move(options)),
      timer_({.every_secs = options_.save_secs,
              .every_steps = options_.save_steps,
              .clock = options_.clock,
              .name = "SummarySaverHook",
              .where = options_.where}) {
  if (options_.scaffold.has_value() == !options_.summary_op.empty())
    throw InvalidArgument(cat("SummarySaverHook was given ", options_.scaffold ? "both" : "neither",
                              " of scaffold and summary_op: give one of them"),
                          options_.where);
}

void SummarySaverHook::begin(Graph& graph) {
  step_ = GlobalStepReader(graph, name());
  writer_ = options_.summary_writer;
  if (!writer_ && !options_.output_dir.empty()) writer_ = FileWriterCache::get(options_.output_dir);
}

void SummarySaverHook::after_create_session(Session& session, Coordinator&) {
  timer_.reset();
  next_step_.reset();
  if (writer_) start_log(session, step_, writer_);
}

std::optional<SessionRunArgs> SummarySaverHook::before_run(SessionRunContext&) {
  if (!writer_) return {};
  requested_ = !next_step_ || timer_.should_trigger_for_step(*next_step_);
  SessionRunArgs args{.fetches = step_.fetches()};
  if (requested_)
    for (const Output& summary : summaries()) args.fetches.push_back(summary);
  return args;
}

void SummarySaverHook::after_run(SessionRunContext& context, const SessionRunValues& values) {
  if (!writer_) return;
  const std::int64_t step = step_.after(context, values);
  next_step_ = step + 1;
  if (!requested_) return;
  timer_.update_last_triggered_step(step);
  for (const Tensor& summary : values.results.subspan(step_.fetched())) writer_->add_summary(summary, step);
}

void SummarySaverHook::end(Session&) {
  if (!writer_) return;
  try {
    writer_->flush();
  } catch (const Error&) {  // logged by the writer; a log must not stop training
  }
}

std::vector<Output> SummarySaverHook::summaries() const {
  if (!options_.scaffold) return options_.summary_op;
  const Output merged = options_.scaffold->summary_op();
  return merged ? std::vector<Output>{merged} : std::vector<Output>{};
}

Hook summary_saver(SummarySaverHookOptions options) {
  return std::make_shared<SummarySaverHook>(std::move(options));
}

}  // namespace runnel
