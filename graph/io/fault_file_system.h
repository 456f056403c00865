// Makes one chosen file operation fail, so that a test can walk through every operation of a save and look at
// what each failure leaves behind. Wraps any FileSystem; over a MemoryFileSystem, `kStop` and then `reboot`
// is a power cut at a chosen moment.
#pragma once

#include <mutex>

#include "graph/io/forwarding_file_system.h"

namespace runnel {

enum class Fault {
  kNoSpace,     // the disk is full
  kInputError,  // the disk reports an error
  kShortWrite,  // half of the bytes of an append arrive, then the disk is full
  kStop,        // the process is killed: this operation and all later ones do nothing and throw
};

// Counts opening, reading, writing, syncing, closing, renaming, removing, making and listing; locks and
// questions (exists, is_directory, sizes, times) are free. Threads may share it.
class FaultFileSystem final : public ForwardingFileSystem {
 public:
  using ForwardingFileSystem::ForwardingFileSystem;

  // The `nth` operation from now on, counted from 1, fails. Resets the count.
  void fail_at(int nth, Fault fault);
  int operations() const;  // since the last fail_at

  std::unique_ptr<WritableFile> open_for_writing(const std::string& path, WriteMode mode) override;
  std::unique_ptr<ReadableFile> open_for_reading(const std::string& path) override;
  void rename(const std::string& from, const std::string& to) override;
  void remove(const std::string& path) override;
  void remove_directory(const std::string& path) override;
  bool make_directory(const std::string& path) override;
  void sync_directory(const std::string& path) override;
  std::vector<std::string> list(const std::string& directory) override;

 private:
  class Writer;
  class Reader;

  // Counts an operation; throws if it is the chosen one. True: a short write is due.
  bool step(const char* action, const std::string& path, bool writes = false);

  mutable std::mutex mutex_;
  int count_ = 0;
  int chosen_ = 0;  // 0: none
  Fault fault_ = Fault::kNoSpace;
};

}  // namespace runnel
