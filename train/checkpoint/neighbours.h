// Other processes that save into the same directory: one that is saving now makes a save fail before it
// touches a file, one that saved in between is warned of.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include "graph/io/directory_lock.h"
#include "graph/io/file_system.h"

namespace runnel {

// To be held while files of a checkpoint in `directory` are made, put right or deleted. Throws Aborted if
// another process holds it. Requires: the directory exists.
std::unique_ptr<DirectoryLock> lock_for_saving(FileSystem& files, const std::string& directory);

// What one saver has seen of them. One thread at a time.
class Neighbours {
 public:
  // As lock_for_saving; a file system that cannot lock is told of once.
  std::unique_ptr<DirectoryLock> lock(FileSystem& files, const std::string& directory);
  // Warns, once a state file, if it is not as it was remembered.
  void compare(FileSystem& files, const std::string& state_path);
  // That this saver has just written it.
  void remember(FileSystem& files, const std::string& state_path);

 private:
  std::map<std::string, std::string> written_;  // bytes of state files, by path
  std::set<std::string> told_;                  // state files and directories that were warned of
};

}  // namespace runnel
