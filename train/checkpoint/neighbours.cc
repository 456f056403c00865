// Locks while saving, and comparison of state files in between.
#include "train/checkpoint/neighbours.h"

#include <utility>

#include "graph/log.h"

namespace runnel {
namespace {

bool reads_as(FileSystem& files, const std::string& path, const std::string& bytes) {
  return files.file_size(path) == bytes.size() && read_file(files, path) == bytes;
}

}  // namespace

std::unique_ptr<DirectoryLock> lock_for_saving(FileSystem& files, const std::string& directory) {
  auto lock = lock_directory(files, directory);
  if (!lock)
    throw Aborted(cat("cannot save into '", directory,
                      "': another process is saving there. Give each process a directory of its own"));
  return lock;
}

std::unique_ptr<DirectoryLock> Neighbours::lock(FileSystem& files, const std::string& directory) {
  auto lock = lock_for_saving(files, directory);
  if (!lock->held() && told_.insert(directory).second)
    log_warning(cat("'", directory, "' cannot be locked: another process that saves there is not noticed"));
  return lock;
}

void Neighbours::compare(FileSystem& files, const std::string& state_path) {
  const auto left = written_.find(state_path);
  if (left == written_.end()) return;
  try {
    if (!files.exists(state_path) || reads_as(files, state_path, left->second)) return;
  } catch (const Error&) {
    return;  // it is about to be replaced
  }
  if (told_.insert(state_path).second)
    log_warning(cat("'", state_path, "' is not as this Saver left it: somebody else saves into '",
                    parent_of(state_path),
                    "', too. Each names its own checkpoints alone and deletes no other; ",
                    "give each process a directory of its own"));
}

void Neighbours::remember(FileSystem& files, const std::string& state_path) {
  try {
    written_[state_path] = read_file(files, state_path);
  } catch (const Error&) {
    written_.erase(state_path);
  }
}

}  // namespace runnel
