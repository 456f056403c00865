// The thread between training and the disk. Callers put serialized events into a bounded queue; the thread
// takes them out and hands them to an EventSink, which it lets write when the flush period is over, when much
// is held, or when somebody asks. A caller waits while the queue is full, but not for ever: if the disk
// hangs, events are dropped and counted. The thread survives every error.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "graph/clock.h"
#include "graph/error.h"
#include "summary/event_sink.h"

namespace runnel {

struct EventWriterOptions {
  int max_queue = 10;       // as many events wake the thread; the queue is full with a megabyte of them
  double flush_secs = 120;  // an event is on the disk after this time at the latest
  bool must_open = true;    // an error while the file is made is thrown, not only logged
};

// All calls may be made from many threads. The destructor closes and drops the error, which has been logged.
class EventWriter {
 public:
  // Throws ResourceExhausted if its thread cannot be started; so does reopen().
  EventWriter(EventSink& sink, Clock& clock, EventWriterOptions options);
  ~EventWriter();
  EventWriter(const EventWriter&) = delete;
  EventWriter& operator=(const EventWriter&) = delete;

  // Throws FailedPrecondition after close(), nothing else.
  void add(PendingEvent event);
  // Returns when all events added before are on the disk. Throws the disk's last error since flush() or
  // close() threw.
  void flush();
  void close();   // flush() for the last time, and the end of the thread; a second call does nothing
  void reopen();  // after close(): begins a new file; otherwise does nothing

 private:
  void start();
  void run();
  bool wait_for_room(std::unique_lock<std::mutex>& lock);
  void wait_for_work(std::unique_lock<std::mutex>& lock);
  bool lot_is_full() const;
  std::optional<Error> take_turn(std::vector<PendingEvent> batch, bool asked);
  void throw_error_if_any(std::unique_lock<std::mutex>& lock);

  EventSink& sink_;  // the thread's while it runs
  Clock& clock_;
  const EventWriterOptions options_;
  std::mutex lifecycle_;  // taken before mutex_; held while the thread is started and ended
  std::mutex mutex_;      // guards what follows
  std::condition_variable wake_, room_, done_;
  std::vector<PendingEvent> queue_;
  std::size_t queued_bytes_ = 0;
  bool idle_ = false;  // the thread waits without end, since it has nothing to write
  bool open_ = false;
  bool stalled_ = false;  // a caller gave up waiting for room; nobody waits until the thread moves again
  std::uint64_t flushes_asked_ = 0, flushes_done_ = 0;
  std::optional<Error> error_;   // not thrown yet
  std::int64_t next_flush_ = 0;  // steady time; the thread's
  std::thread thread_;
};

}  // namespace runnel
