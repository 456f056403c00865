// The only door to the operating system's files. Everything that Runnel writes goes through a FileSystem, so
// that tests can make any single operation fail or cut the power after it (fault_file_system.h,
// memory_file_system.h). Paths are literal: no pattern characters, no "~". Errors name the operation, the
// path and the system's reason.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/error.h"

namespace runnel {

// A file being written, at its end only. Not buffered: when `append` returns, the system has the bytes (a
// killed process loses nothing); when `sync` returns, the disk has them. One thread at a time. The destructor
// closes and says nothing of errors, so whoever cares calls `close`.
class WritableFile {
 public:
  virtual ~WritableFile() = default;
  // Throws ResourceExhausted with bytes wanted and free when the disk is full; part of the bytes may be in
  // the file.
  virtual void append(std::string_view bytes) = 0;
  // A failed sync cannot be repeated: the system may have dropped the bytes. Write the file anew.
  virtual void sync() = 0;
  virtual void close() = 0;  // a second call does nothing
  virtual const std::string& path() const = 0;
};

// A file being read. Many threads may read one.
class ReadableFile {
 public:
  virtual ~ReadableFile() = default;
  // Fills `into` from `offset` on; fewer bytes than asked for only where the file ends.
  virtual std::size_t read_at(std::uint64_t offset, std::span<char> into) const = 0;
  // At most `count` bytes as a string; memory is taken for what the file holds only.
  std::string read_at(std::uint64_t offset, std::uint64_t count) const;
  virtual std::uint64_t size() const = 0;  // now; a file that another process writes may grow
  virtual const std::string& path() const = 0;
};

enum class WriteMode {
  kTruncate,   // make it, or empty it
  kExclusive,  // AlreadyExists if it is there
  kAppend,     // make it, or go on at its end
};

// All calls may come from many threads. Missing files are NotFound, refused ones PermissionDenied.
class FileSystem {
 public:
  virtual ~FileSystem() = default;

  virtual std::unique_ptr<WritableFile> open_for_writing(const std::string& path, WriteMode mode) = 0;
  virtual std::unique_ptr<ReadableFile> open_for_reading(const std::string& path) = 0;

  virtual void rename(const std::string& from, const std::string& to) = 0;  // replaces `to`
  virtual void remove(const std::string& path) = 0;                         // a file
  virtual void remove_directory(const std::string& path) = 0;               // an empty one
  virtual bool make_directory(const std::string& path) = 0;                 // false if it was there
  // Makes the names in the directory as lasting as `sync` makes the bytes of a file.
  virtual void sync_directory(const std::string& path) = 0;

  virtual std::vector<std::string> list(const std::string& directory) = 0;  // names alone, sorted
  virtual bool exists(const std::string& path) = 0;                         // a file or a directory
  virtual bool is_directory(const std::string& path) = 0;
  virtual std::uint64_t file_size(const std::string& path) = 0;
  virtual double modified(const std::string& path) = 0;  // seconds since 1970
  virtual std::uint64_t free_bytes(const std::string& path) = 0;
  // The same text for paths that lead to one file or directory, links followed; empty where there is none.
  virtual std::string identity(const std::string& path) = 0;
  // The same place, wherever the process goes afterwards.
  virtual std::string absolute(const std::string& path) = 0;
};

// The machine's own files (POSIX).
FileSystem& real_file_system();

// "a/b" of "a/b/c", "." of "c", "/" of "/c". Trailing slashes do not count.
std::string parent_of(const std::string& path);
// "c" of "a/b/c".
std::string base_name_of(const std::string& path);
// "a/b"; `name` alone if it is absolute or the directory is empty.
std::string join_path(const std::string& directory, const std::string& name);

// Makes the directory and those above it that are missing; the parent of each new one is synced.
void make_directories(FileSystem& files, const std::string& path);
// For files that are one message or one text: throws InvalidArgument, unread, for one of more than `most`
// bytes.
inline constexpr std::uint64_t kMostMessageBytes = (std::uint64_t{1} << 31) - 1;
std::string read_file(FileSystem& files, const std::string& path, std::uint64_t most = kMostMessageBytes);
// Replaces `path` so that after a power cut it holds either all of the old bytes or all of the new ones:
// temporary name, sync, rename, sync of the directory. Durable when it returns; on an error the old file is
// untouched.
void write_file_atomically(FileSystem& files, const std::string& path, std::string_view bytes);

// A name beside `path` that no one else uses: PATH.tempstateNUMBER. The number begins with one drawn for this
// process, by which what a killed process left behind is told from what is being written now.
std::string temporary_name(const std::string& path);
// What PATH.tempstateNUMBER is a temporary of; empty if `path` has another form.
std::string target_of_temporary(const std::string& path);
// True if this process made the name.
bool is_own_temporary(const std::string& path);

// Renames a temporary that this process made to what it is a temporary of. Throws Aborted if it is gone: then
// another process took it for what a killed one had left.
void rename_temporary(FileSystem& files, const std::string& temporary, const std::string& path);

// Removes a file if it can; for cleaning up while another error passes.
void remove_quietly(FileSystem& files, const std::string& path) noexcept;

}  // namespace runnel
