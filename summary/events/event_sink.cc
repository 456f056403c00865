// Writing, failing and starting again. TensorBoard ignores the first START of a run, also when the files
// before had none, and drops later points only at the second; so a file that goes on from a step begins with
// two.
#include "summary/events/event_sink.h"

#include <algorithm>

#include "graph/io/record_format.h"
#include "graph/log.h"

namespace runnel {
namespace {

// Runs `work` and returns what it threw.
template <class Work>
std::optional<Error> error_of(Work work) {
  try {
    work();
    return std::nullopt;
  } catch (const Error& error) {
    return error;
  } catch (const std::exception& error) {  // out of memory, at worst
    return Internal(error.what());
  }
}

}  // namespace

EventSink::EventSink(FileSystem& files, const Clock& clock, std::string directory, EventSinkOptions options)
    : files_(files), clock_(clock), directory_(std::move(directory)), options_(std::move(options)) {}

void EventSink::open() {
  std::string start;
  if (options_.purge_step) {
    const std::string event = event_of({.wall = clock_.now(), .step = *options_.purge_step},
                                       EventField::kSessionLog, session_log(SessionStatus::kStart));
    for (int i = 0; i < 2; ++i) append_record(start, event);
  }
  make_directories(files_, directory_);
  file_ = std::make_unique<EventFile>(files_, clock_, directory_, options_.filename_suffix, start,
                                      options_.durability);
  options_.purge_step.reset();  // once: a later file of this writer goes on from here
  written_ = file_->size();
  took_records_ = !start.empty();
  unsynced_ = false;
  seen_.clear();
}

std::optional<Error> EventSink::write(RecordBlock& block) {
  std::string changed;
  std::string_view bytes;
  const std::optional<Error> error = error_of([&] {
    replace_if_vanished(block.records());
    if (!file_) open();
    bytes = shown(block, changed);
    file_->append(bytes);
  });
  if (error) {
    const std::uint64_t size = file_ ? file_->size() : 0;
    const std::int64_t whole = whole_records(bytes, size - std::min(written_, size));
    took_records_ = took_records_ || whole > 0;
    block.drop_front(whole);
    return give_up(*error);
  }
  written_ += bytes.size();
  took_records_ = true;
  unsynced_ = options_.durability == Durability::kDisk;
  block.clear();
  if (failing_) log_info(cat("events are written again, to ", file_->path()));
  failing_ = false;
  return std::nullopt;
}

void EventSink::replace_if_vanished(std::int64_t records) {
  if (!file_) return;
  const bool vanished = file_->vanished();
  if (!vanished && file_->size() >= written_) return;
  log_warning(cat("event file ", file_->path(), vanished ? " has vanished or was replaced" : " was cut short",
                  "; a new one is begun, with ", records, " events that were not written yet"));
  file_.reset();
}

std::string_view EventSink::shown(const RecordBlock& block, std::string& changed) {
  if (block.marks().empty()) return block.bytes();
  std::size_t done = block.start();
  for (const RecordBlock::Mark mark : block.marks()) {
    changed += block.bytes_between(done, mark.start);
    const std::size_t payload = mark.start + kRecordHeaderBytes;
    done = mark.start + record_bytes(mark.payload);
    append_record(changed,
                  with_new_metadata_only(block.bytes_between(payload, payload + mark.payload), seen_));
  }
  changed += block.bytes_between(done, block.end());
  return changed;
}

Error EventSink::give_up(const Error& error) {
  if (file_ && !took_records_) remove_quietly(files_, file_->path());
  file_.reset();
  const std::string what = cat("events are not written: ", error.message());
  if (!failing_) log_error(cat(what, "; they wait, and it is tried again"));
  failing_ = true;
  unsynced_ = false;
  return Error(error.code(), what);
}

std::optional<Error> EventSink::sync() {
  if (!unsynced_ || !file_) return std::nullopt;
  const std::optional<Error> error = error_of([this] { file_->sync(); });
  unsynced_ = false;
  if (error) return give_up(*error);  // the system may have dropped the bytes, and says so only once
  return std::nullopt;
}

std::optional<Error> EventSink::close() {
  std::optional<Error> error = sync();
  const std::optional<Error> failure = error_of([this] {
    if (file_) file_->close();
  });
  file_.reset();
  return error ? error : failure;
}

}  // namespace runnel
