// An advisory lock on a directory: who saves there holds it meanwhile, so that a second process which does
// the same is noticed. It is on the directory itself (flock), leaves no file, and ends with the process.
// Processes that do not ask are not held off.
#pragma once

#include <memory>
#include <string>

#include "graph/io/file_system.h"

namespace runnel {

// Held until it is destroyed. `held` is false where the file system cannot lock.
class DirectoryLock {
 public:
  virtual ~DirectoryLock() = default;
  virtual bool held() const = 0;
};

// What a FileSystem is, too, if other processes see its files.
class LocksDirectories {
 public:
  virtual ~LocksDirectories() = default;
  // None if another process holds it. All locks of one process on a directory are one, which ends with the
  // last of them.
  virtual std::unique_ptr<DirectoryLock> lock_directory(const std::string& path) = 0;
};

// The lock of a file system that can; of another, one that counts as held, since nobody else sees its files.
// Requires: the directory exists.
std::unique_ptr<DirectoryLock> lock_directory(FileSystem& files, const std::string& path);

// Of the machine's own directories, as LocksDirectories has it. Not held where one cannot be opened or
// locked.
std::unique_ptr<DirectoryLock> lock_real_directory(const std::string& path);

}  // namespace runnel
