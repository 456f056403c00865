// A window over the file saves a system call a record; a record larger than the window is read whole.
#include "summary/events/record_reader.h"

#include <algorithm>

#include "graph/io/crc32c.h"
#include "summary/events/record_writer.h"

namespace runnel {
namespace {

constexpr std::uint64_t kWindowBytes = 256 * 1024;

template <class T>
T number_at(std::string_view bytes, std::size_t at) {
  T number = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i)
    number |= static_cast<T>(static_cast<unsigned char>(bytes[at + i])) << (8 * i);
  return number;
}

bool matches(std::string_view bytes, std::uint32_t masked) { return mask_crc(crc32c(bytes)) == masked; }

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
    const bool sound = matches(payload, number_at<std::uint32_t>(body, length));
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
  if (!matches(header.substr(0, 8), number_at<std::uint32_t>(header, 8)))
    damaged("the checksum of the record's length does not match it, so no later record can be found");
  const auto length = number_at<std::uint64_t>(header, 0);
  if (length > options_.max_record_bytes)
    damaged(cat("the record claims ", length, " bytes, the limit is ", options_.max_record_bytes).c_str());
  return length;
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
