// One loop: wait for work or for the flush time, take the whole queue, let the sink work without the lock.
// Closing is an asked flush after which the loop ends.
#include "summary/event_writer.h"

#include <utility>

#include "graph/log.h"
#include "graph/thread_start.h"

namespace runnel {
namespace {

constexpr std::size_t kHeldBytes =
    1 << 20;  // written early when more is held: bounds memory and a crash's loss
constexpr std::size_t kQueueBytes = 1 << 20;  // may wait for the thread, whatever their number
constexpr double kPatienceSecs = 5;           // how long a full queue may hold up training, once a stall

}  // namespace

EventWriter::EventWriter(EventSink& sink, Clock& clock, EventWriterOptions options)
    : sink_(sink), clock_(clock), options_(options) {
  if (options_.max_queue < 1)
    throw InvalidArgument(cat("max_queue is ", options_.max_queue, "; it must be at least 1"));
  if (!(options_.flush_secs >= 0))
    throw InvalidArgument(cat("flush_secs is ", options_.flush_secs, "; it must not be negative"));
  start();
}

EventWriter::~EventWriter() {
  try {
    close();
  } catch (...) {  // logged when it happened
  }
}

void EventWriter::start() {
  try {
    sink_.open();
  } catch (const Error& error) {
    if (options_.must_open) throw;
    log_error(cat("no event file yet: ", error.message(), "; it is tried again with the first events"));
  }
  const std::lock_guard hold(mutex_);  // the thread begins after this
  try {
    thread_ = start_thread("the event writer", [this] { run(); });
  } catch (...) {
    sink_.close();
    throw;
  }
  next_flush_ = 0;  // the first event goes to the disk at once
  open_ = true;
  stalled_ = false;
}

void EventWriter::add(PendingEvent event) {
  std::unique_lock lock(mutex_);
  const bool room = wait_for_room(lock);
  if (!open_) throw FailedPrecondition("the event writer is closed; call reopen() before adding events");
  if (!room) return sink_.count_lost(1);
  const bool was_full = lot_is_full();
  queued_bytes_ += event.bytes.size();
  queue_.push_back(std::move(event));
  if (std::exchange(idle_, false) || (!was_full && lot_is_full())) wake_.notify_one();
}

bool EventWriter::lot_is_full() const {
  return queue_.size() >= static_cast<std::size_t>(options_.max_queue) || queued_bytes_ >= kQueueBytes;
}

bool EventWriter::wait_for_room(std::unique_lock<std::mutex>& lock) {
  const auto room = [this] { return !open_ || queued_bytes_ < kQueueBytes; };
  if (room()) return true;
  if (stalled_) return false;
  if (clock_.wait_until(room_, lock, clock_.deadline_in(kPatienceSecs), room)) return true;
  if (!std::exchange(stalled_, true))
    log_error(cat("the event file takes nothing for ", kPatienceSecs,
                  " seconds; events are dropped until it does, training goes on"));
  return false;
}

void EventWriter::wait_for_work(std::unique_lock<std::mutex>& lock) {
  while (open_ && flushes_asked_ == flushes_done_ && !lot_is_full()) {
    idle_ = queue_.empty() && sink_.held_bytes() == 0;
    if (!idle_ && clock_.steady_nanos() >= next_flush_) break;
    clock_.wait_until(wake_, lock, idle_ ? Clock::kForever : next_flush_);
  }
  idle_ = false;
}

void EventWriter::run() {
  std::unique_lock lock(mutex_);
  for (bool more = true; more;) {
    wait_for_work(lock);
    std::vector<PendingEvent> batch = std::exchange(queue_, {});
    queued_bytes_ = 0;
    const std::uint64_t asked = flushes_asked_;
    more = open_;
    stalled_ = false;
    room_.notify_all();
    lock.unlock();
    std::optional<Error> error = take_turn(std::move(batch), !more || asked > flushes_done_);
    lock.lock();
    if (error) error_ = std::move(error);
    flushes_done_ = asked;
    done_.notify_all();
  }
}

std::optional<Error> EventWriter::take_turn(std::vector<PendingEvent> batch, bool asked) {
  try {
    for (PendingEvent& event : batch) sink_.hold(std::move(event));
    if (!asked && clock_.steady_nanos() < next_flush_ && sink_.held_bytes() < kHeldBytes) return std::nullopt;
    next_flush_ = clock_.deadline_in(options_.flush_secs);
    return sink_.write();
  } catch (const std::exception& error) {  // out of memory, at worst
    return Internal(error.what());
  }
}

void EventWriter::flush() {
  std::unique_lock lock(mutex_);
  if (!open_) return;
  const std::uint64_t mine = ++flushes_asked_;
  wake_.notify_one();
  done_.wait(lock, [&] { return flushes_done_ >= mine; });
  throw_error_if_any(lock);
}

void EventWriter::close() {
  const std::lock_guard life(lifecycle_);
  std::unique_lock lock(mutex_);
  if (!std::exchange(open_, false)) return;
  wake_.notify_all();
  room_.notify_all();
  lock.unlock();
  thread_.join();
  std::optional<Error> error = sink_.close();
  lock.lock();
  if (error) error_ = std::move(error);
  throw_error_if_any(lock);
}

void EventWriter::reopen() {
  const std::lock_guard life(lifecycle_);
  {
    const std::lock_guard hold(mutex_);
    if (open_) return;
  }
  start();
}

void EventWriter::throw_error_if_any(std::unique_lock<std::mutex>& lock) {
  const std::optional<Error> error = std::exchange(error_, std::nullopt);
  lock.unlock();
  if (error) throw_error(error->code(), error->message());
}

}  // namespace runnel
