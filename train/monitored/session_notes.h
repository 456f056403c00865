// What the hooks of one session know together, however many they are and in whatever order they come: which
// logs say already where this session begins, what has been saved, and by which savers. Kept with the
// session's own state, so a session that is made anew begins with empty notes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "graph/kernel.h"
#include "train/monitored/global_step_reader.h"

namespace runnel {

class FileWriter;
class Saver;

// For the thread that runs the hooks.
class SessionNotes : public NodeState {
 public:
  static std::shared_ptr<SessionNotes> of(Session& session, const GlobalStepReader& step);

  // The step of the last save to this path (without the step) in this session.
  std::optional<std::int64_t> saved(const std::string& path) const;
  void note_saved(const std::string& path, std::int64_t step) { saved_[path] = step; }

  // Savers that hooks were given. They are borrowed: the hooks live as long as the session is run.
  void note_saver(Saver& saver) { savers_.push_back(&saver); }
  // The one of this SaverDef; null if there is none.
  Saver* saver_of(const std::string& saver_def) const;

  // True for the first call about this log.
  bool begins(const std::shared_ptr<FileWriter>& log) { return logs_.insert(log).second; }
  // What was added to these logs is in their files then, or in the log of the process is said why not.
  void flush_logs() const;

 private:
  std::map<std::string, std::int64_t> saved_;
  std::vector<Saver*> savers_;
  std::set<std::shared_ptr<FileWriter>> logs_;
};

// Writes START into the log, at the first step that this session will do, unless another hook has: readers
// drop what earlier runs logged from there on. Called before anything else of the session is logged. A
// session that goes on says it twice, since TensorBoard takes no notice of a directory's first START.
void start_log(Session& session, const GlobalStepReader& step, const std::shared_ptr<FileWriter>& log);

}  // namespace runnel
