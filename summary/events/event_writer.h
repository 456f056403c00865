// Events on their way to the files of one directory: encoded on the caller's thread, written by an
// EventThread. This part is about lives: closing and opening again, a thread that a dead disk holds, and a
// process that forks, whose child must not write what the parent writes.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "graph/clock.h"
#include "graph/io/file_system.h"
#include "summary/events/event.h"
#include "summary/events/event_sink.h"
#include "summary/events/event_thread.h"

namespace runnel {

struct EventWriterOptions {
  EventThreadOptions thread = {};
  EventSinkOptions sink = {};
  bool must_open = true;  // an error while the file is made is thrown, not only logged
};

// All calls may be made from many threads, but in a forked child the first reopen(). The destructor closes
// and drops the error, which has been logged.
class EventWriter {
 public:
  // Throws ResourceExhausted if its thread cannot be started; so does reopen().
  EventWriter(FileSystem& files, std::string directory, Clock& clock, EventWriterOptions options);
  ~EventWriter();
  EventWriter(const EventWriter&) = delete;
  EventWriter& operator=(const EventWriter&) = delete;

  // These throw FailedPrecondition after close() and in a forked child, nothing else for the disk's sake.
  // Throws InvalidArgument if the tag is not UTF-8.
  void add_scalar(std::string_view tag, float value, std::int64_t step);
  // An event with `body`, a serialized message, in `field`. Its end may be given apart as `rest`, so that a
  // large one is copied once.
  void add(EventField field, std::string_view body, std::int64_t step, bool has_metadata = false,
           std::string_view rest = {});
  void add_event(std::string_view event);  // as it is

  // Returns when all events added before are in the file. Throws why one is not, and DeadlineExceeded if the
  // disk hangs.
  void flush();
  void close();   // flush() for the last time, and the end of the thread; a second call does nothing
  void reopen();  // after close() or in a forked child: begins a new file; otherwise does nothing
  bool is_open() const { return own().is_open(); }  // throws in a forked child
  std::int64_t lost() const { return current().lost(); }

 private:
  bool is_forked() const;
  EventThread& current() const { return *current_.load(std::memory_order_acquire); }
  EventThread& own() const;  // throws in a forked child
  void renew(std::int64_t lost);
  void keep_for_ever();

  FileSystem& files_;
  Clock& clock_;
  const std::string directory_;
  EventWriterOptions options_;
  std::mutex lifecycle_;                               // held while a thread is started or ended
  std::vector<std::shared_ptr<EventThread>> threads_;  // the last is in use, those before were left behind
  std::atomic<EventThread*> current_;
  std::atomic<unsigned> forks_;  // fork_count() of the process whose events these are
};

}  // namespace runnel
