// One event file being written. It is made under a name nobody else has, which sorts behind those of all
// event files in its directory, and starts with the version record, so that it is a valid file from its first
// moment. Source: formats 2, design 3.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "graph/clock.h"
#include "graph/io/file_system.h"

namespace runnel {

// events.out.tfevents.SECONDS.NANOS.HOST.PID.COUNT and the suffix. All numbers have fixed widths, so that the
// names of one machine sort by start; `count` is of this process.
std::string event_file_name(std::int64_t now_nanos, std::uint64_t count, const std::string& suffix);

// The start that a name must not be before, in nanoseconds, so that the file is read after all that are in
// the directory: the clock may have been set back since they were made, or be wrong until a network sets it.
std::int64_t start_behind(const std::vector<std::string>& names);

// Who has the bytes when a call returns: the system, so that a killed process loses nothing, or the disk, so
// that a power cut loses nothing.
enum class Durability { kSystem, kDisk };

// For one thread at a time. The destructor closes the file.
class EventFile {
 public:
  // Makes a new file, never over an old one, with the version record and then `records` in it. Leaves no file
  // behind when it throws.
  EventFile(FileSystem& files, const Clock& clock, const std::string& directory, const std::string& suffix,
            std::string_view records = {}, Durability durability = Durability::kSystem);

  void append(std::string_view records);  // framed
  void sync();
  void close();
  bool vanished() const;  // somebody removed or renamed it, or put another in its place
  // Bytes of it that exist, 0 if that cannot be told. Does not throw.
  std::uint64_t size() const noexcept;
  const std::string& path() const { return file_->path(); }

 private:
  void begin(const Clock& clock, const std::string& directory, std::string_view records,
             Durability durability);

  FileSystem& files_;
  std::unique_ptr<WritableFile> file_;
  std::string identity_;
};

}  // namespace runnel
