// Where records become bytes of a file, and where the disk's troubles end. A file that fails is given up,
// since its end may be torn; records that are whole in it count as written, the others are the caller's to
// bring again, and then a new file is begun. So is one when somebody removed the file.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "graph/clock.h"
#include "graph/error.h"
#include "graph/io/file_system.h"
#include "summary/events/event.h"
#include "summary/events/event_file.h"
#include "summary/events/record_block.h"

namespace runnel {

struct EventSinkOptions {
  std::string filename_suffix = "";
  std::optional<std::int64_t> purge_step =
      std::nullopt;  // events of this step and later are void: training goes on here
  Durability durability = Durability::kSystem;
};

// For one thread at a time.
class EventSink {
 public:
  EventSink(FileSystem& files, const Clock& clock, std::string directory, EventSinkOptions options);

  void open();  // makes directory and file; throws
  // Writes the block's records and drops from it those that are in a file. An error is logged (once, until
  // writing works again) and returned.
  std::optional<Error> write(RecordBlock& block);
  std::optional<Error> sync();                 // does nothing if the system is to be trusted with the bytes
  std::optional<Error> close();                // the next write makes a new file
  bool unsynced() const { return unsynced_; }  // sync has something to do
  // After an error: logs it (once, until writing works again), leaves the file, and returns what to throw.
  Error give_up(const Error& error);

 private:
  void replace_if_vanished(std::int64_t records);
  std::string_view shown(const RecordBlock& block, std::string& changed);

  FileSystem& files_;
  const Clock& clock_;
  std::string directory_;
  EventSinkOptions options_;
  std::unique_ptr<EventFile> file_;
  std::uint64_t written_ = 0;  // bytes of file_ that hold whole records
  bool took_records_ = false;  // file_ holds more than its version record
  bool unsynced_ = false;
  bool failing_ = false;        // an error has been logged, nothing was written since
  std::set<std::string> seen_;  // tags whose metadata file_ holds
};

}  // namespace runnel
