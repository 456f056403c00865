// Files in memory that know what a disk would still hold after a power cut. Each file has bytes that were
// written and bytes that were synced; each directory has names as programs see them and names that were
// synced. `reboot` forgets what a disk may forget; `crash_states` lists every state that a disk may come back
// in. For tests, and for tables and checkpoints that never touch
// a disk.
#pragma once

#include <map>
#include <mutex>
#include <optional>

#include "graph/io/file_system.h"

namespace runnel {

// What a power cut spares. Disks and file systems differ, so code that claims to be safe must be under all
// three.
enum class PowerCut {
  kLosesAllUnsynced,  // bytes and names
  kKeepsNames,        // a rename was stored before the bytes of the file: the empty file of old ext4
  kKeepsBytes,        // bytes were stored before the names
};

// What a disk holds: by path, a file's bytes; none for a directory.
using DiskContents = std::map<std::string, std::optional<std::string>>;

// Threads may share it. Relative paths are under one unnamed root, which always exists; "/" does too.
class MemoryFileSystem final : public FileSystem {
 public:
  explicit MemoryFileSystem(std::uint64_t capacity = UINT64_MAX) : capacity_(capacity) {}

  // The power goes and comes back: what `cut` does not spare is gone. Files open before must not be used
  // after.
  void reboot(PowerCut cut);
  // Every state in which the disk may come back if the power goes now, each once: of the names made, renamed
  // and removed since their directory was synced any may be stored, whatever their order (a rename within a
  // directory is whole or not at all); of a file's bytes since its sync none, half, all, or zeros in their
  // place. That everything is there, as after the death of the process alone, is one of them. Throws
  // FailedPrecondition if they are too many to list.
  std::vector<DiskContents> crash_states() const;
  // The disk holds this, synced, and nothing else.
  void boot(const DiskContents& contents);
  // Every file with its bytes, by path.
  std::map<std::string, std::string> contents() const;

  std::unique_ptr<WritableFile> open_for_writing(const std::string& path, WriteMode mode) override;
  std::unique_ptr<ReadableFile> open_for_reading(const std::string& path) override;
  void rename(const std::string& from, const std::string& to) override;  // files only
  void remove(const std::string& path) override;
  void remove_directory(const std::string& path) override;
  bool make_directory(const std::string& path) override;
  void sync_directory(const std::string& path) override;
  std::vector<std::string> list(const std::string& directory) override;
  bool exists(const std::string& path) override;
  bool is_directory(const std::string& path) override;
  std::uint64_t file_size(const std::string& path) override;
  double modified(const std::string& path) override;  // counts the changes made so far
  std::uint64_t free_bytes(const std::string& path) override;
  std::string identity(const std::string& path) override;
  std::string absolute(const std::string& path) override { return path; }

 private:
  struct Node {
    bool directory = false;
    std::string bytes;   // as programs see them
    std::string synced;  // as the disk has them
    double modified = 0;
  };
  using Names =
      std::map<std::string, std::shared_ptr<Node>>;  // by path without ".", ".." and doubled slashes
  // Of the names in one directory, not synced.
  struct Change {
    std::string directory;
    std::string removed, added;  // paths; empty if it does not
    std::shared_ptr<Node> node;  // the one added
  };
  class Writer;
  class Reader;

  static std::string clean(const std::string& path);
  const std::shared_ptr<Node>& node(const std::string& path) const;  // NotFound if there is none
  void require_parent(const std::string& path) const;
  bool holds_names(const std::string& directory) const;
  void note(const std::string& removed, const std::string& added, std::shared_ptr<Node> node);
  static void apply(Names& names, const Change& change);
  static void forget_unreachable(Names& names);
  std::uint64_t used() const;
  void write(Node& node, std::string_view bytes, const std::string& path);

  mutable std::mutex mutex_;
  const std::uint64_t capacity_;
  double changes_ = 0;
  Names names_;
  Names synced_names_;
  std::vector<Change> changes_of_names_;  // what names_ has and synced_names_ has not, in order
};

}  // namespace runnel
