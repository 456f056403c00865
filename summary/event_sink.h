// Where events become bytes on the disk, and where the disk's troubles end. Events are held in memory until
// they are due; then they go into the file in one piece and are synced. A file that fails is given up, since
// its end may be torn: what it did not take is counted as lost, and the next attempt begins a new one. A file
// that somebody removed is replaced, and the events held go into the new one.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "graph/clock.h"
#include "graph/error.h"
#include "graph/io/file_system.h"
#include "summary/event.h"
#include "summary/event_file.h"

namespace runnel {

struct EventSinkOptions {
  std::string filename_suffix = "";
  std::optional<std::int64_t> purge_step =
      std::nullopt;  // events of this step and later are void: training goes on here
};

// For one thread at a time, but for lost().
class EventSink {
 public:
  EventSink(FileSystem& files, const Clock& clock, std::string directory, EventSinkOptions options);

  void open();  // makes directory and file; throws
  void hold(PendingEvent event);
  std::size_t held_bytes() const { return held_bytes_; }
  // Brings what is held to the disk. An error is logged (once, until writing works again) and returned.
  std::optional<Error> write();
  std::optional<Error> close();  // writes first; the next write makes a new file
  void count_lost(std::int64_t events) { lost_ += events; }
  std::int64_t lost() const { return lost_; }  // events that reached no file

 private:
  void write_held();
  void replace_if_vanished();
  std::string frames(std::vector<std::size_t>& ends);
  Error give_up(const Error& error);

  FileSystem& files_;
  const Clock& clock_;
  std::string directory_;
  EventSinkOptions options_;
  std::unique_ptr<EventFile> file_;
  std::uint64_t written_ = 0;  // bytes of file_ that hold whole records
  bool took_events_ = false;   // file_ holds more than its version record
  bool failing_ = false;       // an error has been logged, nothing was written since
  std::vector<PendingEvent> held_;
  std::size_t held_bytes_ = 0;
  std::vector<std::size_t> ends_;  // where each held event ends in the bytes being written
  std::set<std::string> seen_;     // tags whose metadata file_ holds
  std::atomic<std::int64_t> lost_ = 0;
};

}  // namespace runnel
