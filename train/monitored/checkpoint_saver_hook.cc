// A save: listeners, the events of all logs to the disk (so that a run which goes on from the checkpoint has
// all points before it), the checkpoint, CHECKPOINT in the log, listeners again.
#include "train/monitored/checkpoint_saver_hook.h"

#include <algorithm>
#include <utility>

#include "graph/error.h"
#include "graph/io/file_system.h"
#include "graph/log.h"
#include "summary/file_writer.h"
#include "summary/file_writer_cache.h"
#include "train/checkpoint/step_number.h"
#include "train/monitored/session_notes.h"
#include "train/supervisor/stop_signals.h"

namespace runnel {
namespace {

std::string required(std::string checkpoint_dir, Location where) {
  if (checkpoint_dir.empty())
    throw InvalidArgument("CheckpointSaverHook has no directory to save to: give checkpoint_dir", where);
  return checkpoint_dir;
}

void require_listener(const std::shared_ptr<CheckpointSaverListener>& listener, Location where) {
  if (!listener) throw InvalidArgument("CheckpointSaverHook: a listener is null; leave it out", where);
}

}  // namespace

CheckpointSaverHook::CheckpointSaverHook(std::string checkpoint_dir, CheckpointSaverHookOptions options)
    : checkpoint_dir_(required(std::move(checkpoint_dir), options.where)),
      path_(join_path(checkpoint_dir_, options.checkpoint_basename)),
      options_(std::move(options)),
      timer_({.every_secs = options_.save_secs,
              .every_steps = options_.save_steps,
              .clock = options_.clock,
              .name = "CheckpointSaverHook",
              .where = options_.where}) {
  if (options_.saver && options_.scaffold)
    throw InvalidArgument("CheckpointSaverHook was given both saver and scaffold: give one of them",
                          options_.where);
  if (base_name_of(options_.checkpoint_basename) != options_.checkpoint_basename)
    throw InvalidArgument(
        cat("CheckpointSaverHook: checkpoint_basename is '", options_.checkpoint_basename,
            "', a path: checkpoints are looked for in checkpoint_dir alone, so give a name"),
        options_.where);
  for (const auto& listener : options_.listeners) require_listener(listener, options_.where);
}

CheckpointSaverHook::~CheckpointSaverHook() = default;

void CheckpointSaverHook::add_listener(std::shared_ptr<CheckpointSaverListener> listener) {
  require_listener(listener, options_.where);
  auto& all = options_.listeners;
  if (std::find(all.begin(), all.end(), listener) == all.end()) all.push_back(std::move(listener));
}

void CheckpointSaverHook::begin(Graph& graph) {
  writer_ = FileWriterCache::get(checkpoint_dir_);
  step_ = GlobalStepReader(graph, name());
  own_saver_.reset();
  for (const auto& listener : options_.listeners) listener->begin(graph);
}

void CheckpointSaverHook::after_create_session(Session& session, Coordinator&) {
  notes_ = SessionNotes::of(session, step_);
  told_.reset();
  if (options_.saver) notes_->note_saver(*options_.saver);
  if (options_.scaffold && options_.scaffold->saver()) notes_->note_saver(*options_.scaffold->saver());
  start_log(session, step_, writer_);
  if (options_.save_graph_def) write_graph(session);
  writer_->add_graph(session.graph());
  const std::int64_t step = step_.now(session);
  save(session, step);
  timer_.update_last_triggered_step(step);
}

std::optional<SessionRunArgs> CheckpointSaverHook::before_run(SessionRunContext&) {
  return SessionRunArgs{.fetches = step_.fetches()};
}

void CheckpointSaverHook::after_run(SessionRunContext& context, const SessionRunValues& values) {
  const std::int64_t step = step_.after(context, values);
  if (!timer_.should_trigger_for_step(step)) return;
  timer_.update_last_triggered_step(step);
  if (save(context.session(), step)) context.request_stop("a CheckpointSaverListener asked for it");
}

void CheckpointSaverHook::end(Session& session) {
  const std::int64_t step = step_.now(session);
  if (told_ != step) save(session, step);
  for (const auto& listener : options_.listeners) listener->end(session, step);
  notes_->flush_logs();
}

bool CheckpointSaverHook::save(Session& session, std::int64_t step) {
  for (const auto& listener : options_.listeners) listener->before_save(session, step);
  if (notes_->saved(path_) != step) write(session, step);
  told_ = notes_->saved(path_);
  bool stop = false;
  for (const auto& listener : options_.listeners) stop |= listener->after_save(session, *told_);
  return stop;
}

void CheckpointSaverHook::write(Session& session, std::int64_t step) {
  log_info(cat("Saving checkpoints for ", step, " into ", path_, "."));
  // A disk with logs that hangs may take all the time that is left after a signal; end() flushes then.
  if (!signal_has_come()) notes_->flush_logs();
  const std::string prefix = saver(session).save(
      session, path_, {.global_step = step_.variable(), .write_meta_graph = options_.save_graph_def});
  const std::int64_t saved = step_behind(prefix).value_or(step);  // none without variables to save
  notes_->note_saved(path_, saved);
  writer_->add_session_log(SessionStatus::kCheckpoint, saved, path_);
}

void CheckpointSaverHook::write_graph(Session& session) {
  FileSystem& files = session.files();
  try {
    make_directories(files, checkpoint_dir_);
    write_file_atomically(files, join_path(checkpoint_dir_, "graph.pbtxt"),
                          session.graph().to_graph_def_text({.add_shapes = true}));
  } catch (const Error& error) {
    log_warning(cat("graph.pbtxt is not written, training goes on: ", error.message()));
  }
}

Saver& CheckpointSaverHook::saver(Session& session) {
  Saver* given = options_.scaffold ? options_.scaffold->saver() : options_.saver;
  return given ? *given : saver_of_collection(session);
}

// One object for all hooks that save by it, so that they count and delete old checkpoints together.
Saver& CheckpointSaverHook::saver_of_collection(Session& session) {
  const Collection savers = session.graph().collection(keys::kSavers);
  const std::string* def = savers.empty() ? nullptr : std::get_if<std::string>(&savers.front());
  if (!def)
    throw FailedPrecondition(
        "CheckpointSaverHook has nothing to save with: give it a saver or a scaffold, or add a SaverDef to "
        "the graph's collection savers",
        options_.where);
  if (savers.size() > 1)
    throw FailedPrecondition(cat("CheckpointSaverHook cannot choose among the ", savers.size(),
                                 " savers of the graph's collection savers: give it one as .saver"),
                             options_.where);
  if (Saver* known = notes_->saver_of(*def)) return *known;
  if (!own_saver_)
    own_saver_ =
        std::make_unique<Saver>(Saver::from_saver_def(session.graph(), *def, {.clock = options_.clock}));
  notes_->note_saver(*own_saver_);
  return *own_saver_;
}

Hook checkpoint_saver(std::string checkpoint_dir, CheckpointSaverHookOptions options) {
  return std::make_shared<CheckpointSaverHook>(std::move(checkpoint_dir), std::move(options));
}

}  // namespace runnel
