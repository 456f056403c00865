// What belongs to the parent of a forked process (a thread that is not here, locks that may be held) is never
// touched and never destroyed.
#include "summary/events/event_writer.h"

#include <utility>

#include "graph/error.h"
#include "summary/events/fork_count.h"
#include "summary/events/wire_format.h"

namespace runnel {
namespace {

constexpr std::size_t kMostEventBytes = (std::size_t{1} << 31) - 1;  // what a message may have

// Chained, so that a leak detector sees them.
struct Kept {
  std::vector<std::shared_ptr<EventThread>> threads;
  Kept* next;
};
std::atomic<Kept*> kept = nullptr;

}  // namespace

EventWriter::EventWriter(FileSystem& files, std::string directory, Clock& clock, EventWriterOptions options)
    : files_(files),
      clock_(clock),
      directory_(std::move(directory)),
      options_(std::move(options)),
      forks_(fork_count()) {
  renew(0);
  EventThread::start(threads_.back(), options_.must_open);
}

EventWriter::~EventWriter() {
  try {
    close();
  } catch (...) {  // logged when it happened
  }
  if (is_forked()) keep_for_ever();
}

void EventWriter::renew(std::int64_t lost) {
  threads_.push_back(std::make_shared<EventThread>(EventSink(files_, clock_, directory_, options_.sink),
                                                   clock_, options_.thread, lost));
  current_.store(threads_.back().get(), std::memory_order_release);
  options_.sink.purge_step.reset();  // said once
}

bool EventWriter::is_forked() const { return fork_count() != forks_.load(std::memory_order_relaxed); }

EventThread& EventWriter::own() const {
  if (is_forked())
    throw FailedPrecondition(
        "this event writer is the parent process's; call reopen() for a file of this process");
  return current();
}

void EventWriter::keep_for_ever() {
  Kept* const mine = new Kept{std::move(threads_), kept.load()};
  while (!kept.compare_exchange_weak(mine->next, mine)) {
  }
  threads_.clear();
}

void EventWriter::add_scalar(std::string_view tag, float value, std::int64_t step) {
  require_tag(tag);
  if (tag.size() > kMostEventBytes / 2) throw InvalidArgument("a tag is larger than a message may be");
  const ScalarEvent event({.wall = clock_.now(), .step = step}, tag, value);
  own().add(event.event_bytes(), false, [&](char* at) { event.write(at); });
}

void EventWriter::add(EventField field, std::string_view body, std::int64_t step, bool has_metadata,
                      std::string_view rest) {
  const EventHead head({.wall = clock_.now(), .step = step}, field, body.size() + rest.size());
  if (head.event_bytes() > kMostEventBytes)
    throw InvalidArgument(cat("an event of ", head.event_bytes(), " bytes is larger than a message may be"));
  own().add(head.event_bytes(), has_metadata,
            [&](char* at) { put_bytes(put_bytes(put_bytes(at, head.bytes()), body), rest); });
}

void EventWriter::add_event(std::string_view event) {
  own().add(event.size(), false, [&](char* at) { put_bytes(at, event); });
}

void EventWriter::flush() {
  if (!is_forked()) current().flush();
}

void EventWriter::close() {
  if (is_forked()) return;
  const std::lock_guard life(lifecycle_);
  current().close();
}

void EventWriter::reopen() {
  if (is_forked()) {
    keep_for_ever();
    renew(0);
    EventThread::start(threads_.back(), true);
    forks_ = fork_count();
    return;
  }
  const std::lock_guard life(lifecycle_);
  if (current().is_open()) return;
  if (current().left_behind()) renew(current().lost());
  EventThread::start(threads_.back(), options_.must_open);
}

}  // namespace runnel
