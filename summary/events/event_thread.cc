// One loop: rest until something is due, take the whole queue, let the sink work without the lock. Closing is
// an asked flush after which the loop ends.
#include "summary/events/event_thread.h"

#include <algorithm>
#include <utility>

#include "graph/log.h"
#include "graph/thread_start.h"

namespace runnel {
namespace {

constexpr double kHandOverSecs = 0.1;  // between writes for max_queue's sake: each costs a caller a wake-up
constexpr double kRetrySecs = 5;       // between two tries on a disk that fails

}  // namespace

EventThread::EventThread(EventSink sink, Clock& clock, EventThreadOptions options, std::int64_t lost)
    : sink_(std::move(sink)), clock_(clock), options_(options), lost_(lost) {
  if (options_.max_queue < 1)
    throw InvalidArgument(cat("max_queue is ", options_.max_queue, "; it must be at least 1"));
  if (!(options_.flush_secs >= 0))
    throw InvalidArgument(cat("flush_secs is ", options_.flush_secs, "; it must not be negative"));
  if (!(options_.patience_secs > 0))
    throw InvalidArgument(cat("patience_secs is ", options_.patience_secs, "; it must be above 0"));
}

void EventThread::start(const std::shared_ptr<EventThread>& self, bool must_open) {
  try {
    self->sink_.open();
  } catch (const Error& error) {
    if (must_open) throw;
    self->sink_.give_up(error);
  }
  const std::lock_guard hold(self->mutex_);  // the thread begins after this
  try {
    self->thread_ = start_thread("the event writer", [self] { self->run(); });
  } catch (...) {
    self->sink_.close();
    throw;
  }
  self->next_write_ = self->next_hand_over_ = self->next_sync_ = self->next_try_ = kNow;
  self->open_ = true;
  self->ended_ = false;
}

void EventThread::throw_closed() {
  throw FailedPrecondition("the event writer is closed; call reopen() before adding events");
}

void EventThread::drop(EventQueue::Answer answer) {
  lost_.fetch_add(1, std::memory_order_relaxed);
  if (answer == EventQueue::Answer::kFirstDropped)
    unsaid_ = ResourceExhausted(
        cat("events were dropped, since ", EventQueue::kMostBytes >> 20, " MiB of them waited for the disk"));
}

void EventThread::report(EventQueue::Answer answer) const {
  if (answer == EventQueue::Answer::kFirstDropped)
    log_error(cat(
        EventQueue::kMostBytes >> 20,
        " MiB of events wait for the disk; new ones are dropped until it has taken half, training goes on"));
  if (answer == EventQueue::Answer::kTakenAgain)
    log_info(cat("events are taken again; ", lost(), " were lost so far"));
}

void EventThread::run() {
  std::unique_lock lock(mutex_);
  while (!ended_ && !left_behind_) {
    rest(lock);
    take_turn(lock);
  }
  lock.unlock();
  sink_.close();  // for one that was left behind; otherwise it is closed
}

void EventThread::rest(std::unique_lock<std::mutex>& lock) {
  for (std::int64_t time = due(); time != kNow && time > clock_.steady_nanos(); time = due()) {
    resting_ = true;
    clock_.wait_until(wake_, lock, time);
    resting_ = false;
  }
}

std::int64_t EventThread::due() const {
  if (!open_ || flushes_asked_ != flushes_done_) return kNow;
  std::int64_t time = sink_.unsynced() ? next_sync_ : Clock::kForever;
  if (!lot_.empty()) return std::min(time, next_try_);
  if (queue_.bytes() >= kDueBytes) return kNow;
  if (queue_.records() > 0) time = std::min(time, next_write_);
  if (queue_.records() >= options_.max_queue) time = std::min(time, next_hand_over_);
  return time;
}

void EventThread::take_turn(std::unique_lock<std::mutex>& lock) {
  queue_.take(lot_);
  const std::uint64_t asked = flushes_asked_;
  const bool last = !open_;
  failure_ = write_lot(lock);
  if (left_behind_) return;
  const std::int64_t now = clock_.steady_nanos();
  if (sink_.unsynced() && (last || asked != flushes_done_ || now >= next_sync_)) {
    lock.unlock();
    std::optional<Error> error = sink_.sync();
    lock.lock();
    if (error) unsaid_ = std::move(error);
    next_sync_ = clock_.deadline_in(options_.flush_secs);
  }
  next_write_ = clock_.deadline_in(options_.flush_secs);
  next_hand_over_ = clock_.deadline_in(kHandOverSecs);
  if (failure_) next_try_ = clock_.deadline_in(kRetrySecs);
  if (last) end(lock);
  flushes_done_ = asked;
  done_.notify_all();
}

std::optional<Error> EventThread::write_lot(std::unique_lock<std::mutex>& lock) {
  while (!lot_.empty()) {
    RecordBlock& block = lot_.front();
    const std::size_t bytes = block.bytes().size();
    const std::int64_t records = block.records();
    lock.unlock();
    std::optional<Error> error = sink_.write(block);
    lock.lock();
    if (left_behind_) return std::nullopt;
    progress_ = clock_.steady_nanos();
    queue_.written(bytes - block.bytes().size(), records - block.records());
    if (error) return error;
    queue_.give_back(lot_);
  }
  return std::nullopt;
}

void EventThread::end(std::unique_lock<std::mutex>& lock) {
  lock.unlock();
  std::optional<Error> error = sink_.close();
  lock.lock();
  if (error) unsaid_ = std::move(error);
  const std::int64_t left = queue_.unwritten_records();
  if (failure_ && left > 0)
    failure_ = Error(failure_->code(), cat(failure_->message(), "; ", left, " events are lost"));
  lost_ += left;
  lot_.clear();
  queue_ = EventQueue();
  ended_ = true;
}

// Waits for the thread until `done()`; false if the disk has not moved for too long.
template <class Done>
bool EventThread::wait_patiently(std::unique_lock<std::mutex>& lock, Done done) {
  const std::int64_t begun = clock_.steady_nanos();
  const std::int64_t patience = clock_.deadline_in(options_.patience_secs) - begun;
  while (!done()) {
    const std::int64_t from = std::max(begun, progress_);
    const std::int64_t deadline = patience > Clock::kForever - from ? Clock::kForever : from + patience;
    if (clock_.steady_nanos() >= deadline) return false;
    clock_.wait_until(done_, lock, deadline);
  }
  return true;
}

void EventThread::throw_hung() const {
  throw DeadlineExceeded(cat("the disk has taken no events for ", options_.patience_secs, " seconds; ",
                             queue_.unwritten_records(), " wait"));
}

void EventThread::flush() {
  std::unique_lock lock(mutex_);
  if (!open_) return;
  const std::uint64_t mine = ++flushes_asked_;
  wake_.notify_one();
  if (!wait_patiently(lock, [&] { return flushes_done_ >= mine || ended_; })) throw_hung();
  throw_error_if_any();
}

void EventThread::close() {
  std::unique_lock lock(mutex_);
  if (!std::exchange(open_, false)) return;
  wake_.notify_one();
  if (!wait_patiently(lock, [this] { return ended_; })) {
    left_behind_ = true;
    lost_ += queue_.unwritten_records();
    thread_.detach();
    throw_hung();
  }
  lock.unlock();
  thread_.join();
  lock.lock();
  throw_error_if_any();
}

bool EventThread::is_open() const {
  const std::lock_guard hold(mutex_);
  return open_;
}

bool EventThread::left_behind() const {
  const std::lock_guard hold(mutex_);
  return left_behind_;
}

void EventThread::throw_error_if_any() {
  const std::optional<Error> error = failure_ ? failure_ : unsaid_;
  unsaid_.reset();
  const bool waits = open_ && failure_;
  if (!open_) failure_.reset();
  if (error)
    throw_error(error->code(), cat(error->message(), waits ? "; they wait, and it is tried again" : ""));
}

}  // namespace runnel
