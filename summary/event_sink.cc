// Writing, failing and starting again. TensorBoard ignores the first START of a run, also when the files
// before had none, and drops later points only at the second; so a file that goes on from a step begins with
// two.
#include "summary/event_sink.h"

#include <algorithm>

#include "graph/log.h"
#include "summary/record_writer.h"

namespace runnel {

EventSink::EventSink(FileSystem& files, const Clock& clock, std::string directory, EventSinkOptions options)
    : files_(files), clock_(clock), directory_(std::move(directory)), options_(std::move(options)) {}

void EventSink::open() {
  std::string start;
  if (options_.purge_step) {
    const std::string event =
        session_log_event({.wall = clock_.now(), .step = *options_.purge_step}, SessionStatus::kStart);
    for (int i = 0; i < 2; ++i) append_record(start, event);
  }
  make_directories(files_, directory_);
  file_ = std::make_unique<EventFile>(files_, clock_, directory_, options_.filename_suffix, start);
  options_.purge_step.reset();  // once: a later file of this writer goes on from here
  written_ = file_->size();
  took_events_ = !start.empty();
  seen_.clear();
}

void EventSink::hold(PendingEvent event) {
  held_bytes_ += event.bytes.size();
  held_.push_back(std::move(event));
}

std::optional<Error> EventSink::write() {
  if (held_.empty()) return std::nullopt;
  try {
    write_held();
    if (failing_) log_info(cat("events are written again, to ", file_->path()));
    failing_ = false;
    return std::nullopt;
  } catch (const Error& error) {
    return give_up(error);
  } catch (const std::exception& error) {
    return give_up(Internal(error.what()));
  }
}

void EventSink::write_held() {
  ends_.clear();
  replace_if_vanished();
  if (!file_) open();
  const std::string bytes = frames(ends_);
  file_->append(bytes);
  took_events_ = true;
  file_->sync();
  written_ += bytes.size();
  held_.clear();
  held_bytes_ = 0;
}

void EventSink::replace_if_vanished() {
  if (!file_ || !file_->vanished()) return;
  log_warning(cat("event file ", file_->path(), " has vanished; a new one is begun, with ", held_.size(),
                  " events that were not written yet"));
  file_.reset();
}

std::string EventSink::frames(std::vector<std::size_t>& ends) {
  std::string out;
  for (const PendingEvent& event : held_) {
    append_record(out, event.has_metadata ? with_new_metadata_only(event.bytes, seen_) : event.bytes);
    ends.push_back(out.size());
  }
  return out;
}

Error EventSink::give_up(const Error& error) {
  const std::string place = file_ ? "event file " + file_->path() : "no event file in " + directory_;
  const std::uint64_t size = file_ ? file_->size() : 0;
  const std::uint64_t taken = size - std::min(written_, size);
  const auto whole = std::upper_bound(ends_.begin(), ends_.end(), taken) - ends_.begin();
  lost_ += static_cast<std::int64_t>(held_.size()) - whole;
  held_.clear();
  held_bytes_ = 0;
  if (file_ && !took_events_ && whole == 0) remove_quietly(files_, file_->path());
  file_.reset();
  const std::string what = cat(place, ": ", error.message(), "; ", lost_.load(),
                               " events lost so far, writing is tried again with the next events");
  if (!failing_) log_error(what);
  failing_ = true;
  return Error(error.code(), what);
}

std::optional<Error> EventSink::close() {
  std::optional<Error> error = write();
  try {
    if (file_) file_->close();
  } catch (const Error& failure) {
    if (!error) error = failure;
  } catch (const std::exception& failure) {
    if (!error) error = Internal(failure.what());
  }
  file_.reset();
  return error;
}

}  // namespace runnel
