// What a saver keeps of all it saved: a list for each directory, and the state file in which the list is
// named, so that a later process goes on with it. The rule is that of kept_checkpoints.h; deleting is the
// saver's.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "graph/io/file_system.h"
#include "train/checkpoint/kept_checkpoints.h"

namespace runnel {

// One thread at a time.
class Retention {
 public:
  // `start`: the time from which the hours count. Throws InvalidArgument for a rule that is none.
  Retention(KeepRule rule, double start) : start_(start) { set_rule(rule); }
  // Of directories that are not known yet. Throws as the constructor does.
  void set_rule(KeepRule rule);

  // Names the newest in the state file beside it, and what else is kept there; the list changes once the file
  // has changed. Returns those that are to be deleted. Throws what update_checkpoint_state throws.
  std::vector<std::string> add(FileSystem& files, KeptCheckpoint newest, const std::string& latest_filename);

  // Goes on with the list that an earlier process left in the checkpoint's directory, if nothing has been
  // kept there yet and the list has the checkpoint.
  void go_on_from(FileSystem& files, const std::string& prefix);
  // Takes these over, oldest first, for the directories that they lie in.
  void take_over(std::span<const KeptCheckpoint> checkpoints);
  void clear() { kept_.clear(); }

  // Prefixes, oldest first, all directories together.
  std::vector<std::string> all() const;

 private:
  KeptCheckpoints& in(const std::string& directory);

  KeepRule rule_ = {};
  double start_;
  std::map<std::string, KeptCheckpoints> kept_;  // by directory, as callers spell it
};

}  // namespace runnel
