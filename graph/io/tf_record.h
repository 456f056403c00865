// TFRecord files, as TensorFlow programs keep their examples in: framed records (record_format.h), the whole
// file compressed or not. For programs that write such files or read them outside of a graph.
//
//   TFRecordWriter writer("train.tfrecord", {.compression = Compression::kGzip});
//   writer.write(example.serialize());
//   writer.close();
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "graph/io/compression.h"
#include "graph/io/file_system.h"

namespace runnel {

class Deflater;
class InputStream;

struct TFRecordOptions {
  Compression compression = Compression::kNone;
  FileSystem* files = nullptr;  // none: the machine's
};

// For one thread at a time. Makes the file, or empties it. The destructor closes and says nothing of errors,
// so whoever cares calls `close`.
class TFRecordWriter {
 public:
  explicit TFRecordWriter(const std::string& path, TFRecordOptions options = {});
  ~TFRecordWriter();
  TFRecordWriter(const TFRecordWriter&) = delete;
  TFRecordWriter& operator=(const TFRecordWriter&) = delete;

  // Throws InvalidArgument for 2 GB or more, FailedPrecondition when it is closed.
  void write(std::string_view record);
  // All records so far are in the file, and can be read.
  void flush();
  void close();  // with the bytes on the disk; a second call does nothing

 private:
  void put(std::size_t at_least);  // what has come together, if it is so much

  std::unique_ptr<WritableFile> file_;
  std::unique_ptr<Deflater> deflater_;
  std::string plain_, ready_;  // framed; for the file
};

// The records of a file in order. For one thread at a time.
class TFRecordIterator {
 public:
  explicit TFRecordIterator(const std::string& path, TFRecordOptions options = {});
  ~TFRecordIterator();

  // The next record, or nothing at the end. Throws DataLoss with path and offset for a damaged or cut one,
  // again at each call.
  std::optional<std::string> next();
  std::uint64_t start() const { return start_; }  // where the last record started, counted after inflating

 private:
  std::uint64_t payload(std::string_view header);
  [[noreturn]] void damaged(const std::string& what);

  std::unique_ptr<InputStream> stream_;
  std::uint64_t start_ = 0;
  std::string damage_;
};

}  // namespace runnel
