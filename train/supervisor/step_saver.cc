// The step is read twice: before the save, to see whether training has moved, and by the save itself, in one
// run with the values.
#include "train/supervisor/step_saver.h"

#include "graph/error.h"
#include "graph/io/file_system.h"
#include "graph/log.h"
#include "train/checkpoint/step_number.h"
#include "train/supervisor/stop_signals.h"

namespace runnel {

std::int64_t read_step(Session& session, Output global_step) {
  return step_number(session.run(global_step), global_step.name());
}

void flush_events(FileWriter& log) {
  try {
    log.flush();
  } catch (const Error& error) {
    log_warning(cat("events in '", log.get_logdir(), "' are not written: ", error.message()));
  }
}

void StepSaver::note_restored(Session& session, const std::string& prefix) {
  FileSystem& files = session.files();
  if (!global_step_ || !base_name_of(prefix).starts_with(base_name_of(path_) + "-") ||
      files.identity(parent_of(prefix)) != files.identity(parent_of(path_)))
    return;
  const std::optional<std::int64_t> step = step_behind(prefix);
  if (step != read_step(session, global_step_)) return;
  const std::lock_guard hold(mutex_);
  saved_ = step;
}

bool StepSaver::save(Session& session) {
  const std::lock_guard turn(mutex_);
  if (saved_ && global_step_ && read_step(session, global_step_) == *saved_) return false;
  if (writer_ && !signal_has_come()) flush_events(*writer_);
  log_info(cat("Saving checkpoint to path ", path_));
  const std::string prefix =
      saver_->save(session, path_, {.global_step = global_step_ ? SaveStep(global_step_) : SaveStep()});
  if (prefix.empty()) return false;  // a saver without variables
  if (!global_step_) return true;
  saved_ = step_behind(prefix);  // that of the cut that was saved
  if (writer_) writer_->add_session_log(SessionStatus::kCheckpoint, *saved_, path_);
  return true;
}

}  // namespace runnel
