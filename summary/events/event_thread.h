// The thread between training and the disk, and the queue before it. Adding costs an encoding and a lock; it
// never waits for the disk. The thread takes all that waits and lets the sink write it: the first event at
// once, later ones when flush_secs are over, when somebody asks, when much waits, and soon after max_queue
// wait. What the disk refuses is kept and tried again. The thread survives every error, and one that a dead
// disk holds can be left behind.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <limits>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "graph/clock.h"
#include "graph/error.h"
#include "summary/events/event_queue.h"
#include "summary/events/event_sink.h"

namespace runnel {

struct EventThreadOptions {
  int max_queue = 10;         // so many events are written soon, fewer when flush_secs are over
  double flush_secs = 120;    // an event is in the file after this time at the latest
  double patience_secs = 60;  // flush and close give up when the disk has taken nothing for so long
};

// All calls may be made from many threads, but start and close not at once. The running thread shares it.
class EventThread {
 public:
  EventThread(EventSink sink, Clock& clock, EventThreadOptions options, std::int64_t lost = 0);

  // Begins a file and the thread. Throws ResourceExhausted if there is none to be had and, if `must_open`,
  // what the file system says; otherwise that is logged. Requires: it does not run.
  static void start(const std::shared_ptr<EventThread>& self, bool must_open);

  // Adds an event of `payload` bytes, which `fill(char* at)` writes. Throws FailedPrecondition after close().
  template <class Fill>
  void add(std::size_t payload, bool has_metadata, Fill fill) {
    if (payload < EventQueue::kOwnBlockBytes)
      return put(payload, [&] {
        RecordBlock& block = queue_.block_for(payload);
        fill(block.next_payload());
        block.add(payload, has_metadata);
        queue_.added(payload);
      });
    RecordBlock block(record_bytes(payload));  // filled before others are kept waiting
    fill(block.next_payload());
    block.add(payload, has_metadata);
    put(payload, [&] { queue_.push(std::move(block)); });
  }

  void flush();
  void close();  // also ends the thread; a second call does nothing
  bool is_open() const;
  bool left_behind() const;  // close() gave the thread up; it cannot be started again
  std::int64_t lost() const { return lost_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::int64_t kNow = std::numeric_limits<std::int64_t>::min();
  // Written when so much waits: a little less than a block, so that the thread is awake when it is full.
  static constexpr std::size_t kDueBytes = EventQueue::kBlockBytes * 3 / 4;

  template <class Put>
  void put(std::size_t payload, Put put) {
    EventQueue::Answer answer{};
    bool wake = false;
    {
      const std::lock_guard hold(mutex_);
      if (!open_) throw_closed();
      answer = queue_.admit(payload);
      if (answer == EventQueue::Answer::kTaken || answer == EventQueue::Answer::kTakenAgain) {
        const int before = urgency();
        put();
        wake = resting_ && urgency() > before;
      } else {
        drop(answer);
      }
    }
    if (wake) wake_.notify_one();
    if (answer != EventQueue::Answer::kTaken) report(answer);
  }

  int urgency() const {
    return (queue_.records() > 0) + (queue_.records() >= options_.max_queue) + (queue_.bytes() >= kDueBytes);
  }
  [[noreturn]] static void throw_closed();
  void drop(EventQueue::Answer answer);
  void report(EventQueue::Answer answer) const;
  void run();
  void rest(std::unique_lock<std::mutex>& lock);
  std::int64_t due() const;
  std::optional<Error> write_lot(std::unique_lock<std::mutex>& lock);
  void take_turn(std::unique_lock<std::mutex>& lock);
  void end(std::unique_lock<std::mutex>& lock);
  template <class Done>
  bool wait_patiently(std::unique_lock<std::mutex>& lock, Done done);
  [[noreturn]] void throw_hung() const;
  void throw_error_if_any();

  EventSink sink_;  // the thread's while it runs
  Clock& clock_;
  const EventThreadOptions options_;
  std::list<RecordBlock> lot_;  // the thread's: taken out of the queue, not written yet
  mutable std::mutex mutex_;    // guards what follows
  std::condition_variable wake_, done_;
  EventQueue queue_;
  bool resting_ = false;  // the thread waits for a time or for more
  bool open_ = false;
  bool ended_ = true;
  bool left_behind_ = false;
  std::uint64_t flushes_asked_ = 0, flushes_done_ = 0;
  std::optional<Error> failure_;  // why what waits could not be written; gone when it could
  std::optional<Error> unsaid_;   // what is lost for good, to be thrown once
  std::int64_t next_write_ = 0, next_hand_over_ = 0, next_sync_ = 0, next_try_ = 0;  // steady times
  std::int64_t progress_ = 0;  // when the disk last took something
  std::atomic<std::int64_t> lost_;
  std::thread thread_;
};

}  // namespace runnel
