// The notes are the state of the global step's node, which has none of its own (a variable's value is kept
// elsewhere).
#include "train/monitored/session_notes.h"

#include "graph/runtime/engine.h"
#include "summary/file_writer.h"
#include "train/checkpoint/saver.h"
#include "train/supervisor/step_saver.h"

namespace runnel {

std::shared_ptr<SessionNotes> SessionNotes::of(Session& session, const GlobalStepReader& step) {
  const Node& node = step.variable().parts().variable.node();
  return std::dynamic_pointer_cast<SessionNotes>(
      session.engine()->state_of(node, [] { return std::make_shared<SessionNotes>(); }));
}

std::optional<std::int64_t> SessionNotes::saved(const std::string& path) const {
  const auto found = saved_.find(path);
  return found == saved_.end() ? std::nullopt : std::optional(found->second);
}

Saver* SessionNotes::saver_of(const std::string& saver_def) const {
  for (Saver* saver : savers_)
    if (saver->saver_def() == saver_def) return saver;
  return nullptr;
}

void SessionNotes::flush_logs() const {
  for (const auto& log : logs_) flush_events(*log);
}

void start_log(Session& session, const GlobalStepReader& step, const std::shared_ptr<FileWriter>& log) {
  if (!SessionNotes::of(session, step)->begins(log)) return;
  const std::int64_t done = step.now(session);
  for (int i = 0; i < (done == 0 ? 1 : 2); ++i) log->add_session_log(SessionStatus::kStart, done + 1);
}

}  // namespace runnel
