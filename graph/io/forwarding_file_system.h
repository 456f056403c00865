// Hands every call on to another FileSystem, locks too. Base of those that change a call or two and leave
// the others as they are.
#pragma once

#include "graph/io/directory_lock.h"
#include "graph/io/file_system.h"

namespace runnel {

// The other FileSystem must live as long.
class ForwardingFileSystem : public FileSystem, public LocksDirectories {
 public:
  explicit ForwardingFileSystem(FileSystem& files) : files_(files) {}

  std::unique_ptr<WritableFile> open_for_writing(const std::string& path, WriteMode mode) override {
    return files_.open_for_writing(path, mode);
  }
  std::unique_ptr<ReadableFile> open_for_reading(const std::string& path) override {
    return files_.open_for_reading(path);
  }
  void rename(const std::string& from, const std::string& to) override { files_.rename(from, to); }
  void remove(const std::string& path) override { files_.remove(path); }
  void remove_directory(const std::string& path) override { files_.remove_directory(path); }
  bool make_directory(const std::string& path) override { return files_.make_directory(path); }
  void sync_directory(const std::string& path) override { files_.sync_directory(path); }
  std::vector<std::string> list(const std::string& directory) override { return files_.list(directory); }
  bool exists(const std::string& path) override { return files_.exists(path); }
  bool is_directory(const std::string& path) override { return files_.is_directory(path); }
  std::uint64_t file_size(const std::string& path) override { return files_.file_size(path); }
  double modified(const std::string& path) override { return files_.modified(path); }
  std::uint64_t free_bytes(const std::string& path) override { return files_.free_bytes(path); }
  std::string identity(const std::string& path) override { return files_.identity(path); }
  std::string absolute(const std::string& path) override { return files_.absolute(path); }
  std::unique_ptr<DirectoryLock> lock_directory(const std::string& path) override {
    return runnel::lock_directory(files_, path);
  }

 protected:
  FileSystem& files_;
};

}  // namespace runnel
