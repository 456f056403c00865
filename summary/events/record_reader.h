// Reads framed records (graph/io/record_format.h) back, trusting nothing: both checksums are compared and a
// length is believed only if its checksum is right and the file is long enough. The end of a file that is
// being written, or whose writer was killed, is often half a record: that is not damage but "not yet".
// Source: formats 2.1.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/io/file_system.h"
#include "graph/io/record_format.h"

namespace runnel {

struct RecordReaderOptions {
  std::uint64_t max_record_bytes = kMostRecordBytes;
  bool skip_damaged = false;  // pass over a record whose payload is damaged but whose length is sound
};

// For one thread at a time.
class RecordReader {
 public:
  explicit RecordReader(std::unique_ptr<ReadableFile> file, RecordReaderOptions options = {});

  // The next record, or nothing where the file ends. The same call may be made again when the file has grown.
  // Throws DataLoss with path and offset for a damaged record, again at each call.
  std::optional<std::string> next();
  // The last record is no good for the caller: the same as if its checksum did not match.
  void refuse(const char* what);
  // Goes on at `offset`, where a record starts.
  void seek(std::uint64_t offset) { offset_ = offset; }

  std::uint64_t start() const { return start_; }    // where the last record started
  std::uint64_t offset() const { return offset_; }  // where the next record starts
  bool truncated() const { return truncated_; }     // the last call to next() met part of a record
  const std::vector<std::uint64_t>& skipped() const { return skipped_; }  // where damaged ones began
  const std::string& path() const { return file_->path(); }

 private:
  std::string_view bytes_at(std::uint64_t offset, std::uint64_t count);  // fewer where the file ends
  std::uint64_t length_at(std::string_view header) const;
  [[noreturn]] void damaged(const char* what) const;

  std::unique_ptr<ReadableFile> file_;
  RecordReaderOptions options_;
  std::uint64_t start_ = 0, offset_ = 0;
  std::vector<std::uint64_t> skipped_;
  bool truncated_ = false;
  std::string window_;  // bytes of the file from window_start_ on
  std::uint64_t window_start_ = 0;
};

}  // namespace runnel
