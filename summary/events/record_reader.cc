// A window over the file saves a system call a record; a record larger than the window is read whole.
#include "summary/events/record_reader.h"

#include <algorithm>

#include "graph/io/record_format.h"

namespace runnel {
namespace {

constexpr std::uint64_t kWindowBytes = 256 * 1024;

}  // namespace

RecordReader::RecordReader(std::unique_ptr<ReadableFile> file, RecordReaderOptions options)
    : file_(std::move(file)), options_(options) {}

std::optional<std::string> RecordReader::next() {
  for (;;) {
    const std::string_view header = bytes_at(offset_, kRecordHeaderBytes);
    truncated_ = !header.empty() && header.size() < kRecordHeaderBytes;
    if (header.size() < kRecordHeaderBytes) return std::nullopt;
    const std::uint64_t length = length_at(header);
    const std::uint64_t rest = length + kRecordFooterBytes;  // no overflow: length_at has a limit
    const std::string_view body = bytes_at(offset_ + kRecordHeaderBytes, rest);
    truncated_ = body.size() < rest;
    if (truncated_) return std::nullopt;
    const std::string_view payload = body.substr(0, length);
    const bool sound = is_sound_record(body);
    if (!sound && !options_.skip_damaged) damaged("the checksum of the record does not match its bytes");
    if (!sound) skipped_.push_back(offset_);
    start_ = offset_;
    offset_ += kRecordHeaderBytes + rest;
    if (sound) return std::string(payload);
  }
}

void RecordReader::refuse(const char* what) {
  if (options_.skip_damaged) {
    skipped_.push_back(start_);
    return;
  }
  offset_ = start_;
  damaged(what);
}

std::uint64_t RecordReader::length_at(std::string_view header) const {
  try {
    return checked_payload_of_record(header, options_.max_record_bytes);
  } catch (const DataLoss& error) {
    damaged(error.message().c_str());
  }
}

std::string_view RecordReader::bytes_at(std::uint64_t offset, std::uint64_t count) {
  const bool inside = offset >= window_start_ && offset - window_start_ <= window_.size() &&
                      window_.size() - (offset - window_start_) >= count;
  if (!inside) {
    window_ = file_->read_at(offset, std::max(count, kWindowBytes));
    window_start_ = offset;
  }
  return std::string_view(window_).substr(offset - window_start_, count);
}

void RecordReader::damaged(const char* what) const {
  throw DataLoss(cat(file_->path(), ": at byte ", offset_, " ", what,
                     "; what comes before is good, and skip_damaged passes over a damaged record"));
}

}  // namespace runnel
