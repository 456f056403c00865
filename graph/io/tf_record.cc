// Records come together in memory until they are worth an append.
#include "graph/io/tf_record.h"

#include <utility>

#include "graph/error.h"
#include "graph/io/inflate.h"
#include "graph/io/input_stream.h"
#include "graph/io/record_format.h"

namespace runnel {
namespace {

constexpr std::size_t kBlockBytes = 256 * 1024;

FileSystem& files_of(const TFRecordOptions& options) {
  return options.files ? *options.files : real_file_system();
}

}  // namespace

TFRecordWriter::TFRecordWriter(const std::string& path, TFRecordOptions options)
    : file_(files_of(options).open_for_writing(path, WriteMode::kTruncate)) {
  if (options.compression != Compression::kNone) deflater_ = std::make_unique<Deflater>(options.compression);
}

TFRecordWriter::~TFRecordWriter() {
  try {
    close();
  } catch (const Error&) {
    // Whoever cares calls close().
  }
}

void TFRecordWriter::write(std::string_view record) {
  if (!file_) throw FailedPrecondition("this TFRecordWriter is closed");
  if (record.size() > kMostRecordBytes)
    throw InvalidArgument(cat("a record of ", record.size(), " bytes; the most is ", kMostRecordBytes));
  append_record(plain_, record);
  put(kBlockBytes);
}

void TFRecordWriter::put(std::size_t at_least) {
  if (plain_.size() < at_least) return;
  if (deflater_) {
    deflater_->add(plain_, ready_);
    plain_.clear();
  } else {
    std::swap(plain_, ready_);
  }
  if (!ready_.empty()) file_->append(ready_);
  ready_.clear();
}

void TFRecordWriter::flush() {
  if (!file_) throw FailedPrecondition("this TFRecordWriter is closed");
  put(0);
  if (!deflater_) return;
  deflater_->flush(ready_);
  put(0);
}

void TFRecordWriter::close() {
  if (!file_) return;
  const std::unique_ptr<WritableFile> file = std::move(file_);
  if (deflater_) {
    deflater_->add(plain_, ready_);
    deflater_->finish(ready_);
  } else {
    ready_ = std::move(plain_);
  }
  if (!ready_.empty()) file->append(ready_);
  file->sync();
  file->close();
}

TFRecordIterator::TFRecordIterator(const std::string& path, TFRecordOptions options)
    : stream_(std::make_unique<InputStream>(files_of(options), path, options.compression)) {}
TFRecordIterator::~TFRecordIterator() = default;

// Bytes are taken only with the whole record: an error of the stream within it comes again.
std::optional<std::string> TFRecordIterator::next() {
  if (!damage_.empty()) throw DataLoss(damage_);
  start_ = stream_->offset();
  const std::string_view header = stream_->peek(kRecordHeaderBytes);
  if (header.empty()) return std::nullopt;
  if (header.size() < kRecordHeaderBytes) damaged("the file ends within a record");
  const std::uint64_t bytes = kRecordHeaderBytes + payload(header) + kRecordFooterBytes;
  if (!stream_->holds(bytes)) damaged("the file ends within a record");
  const std::string_view body = stream_->read(bytes).substr(kRecordHeaderBytes);
  if (!is_sound_record(body)) damaged("the checksum of the record does not match its bytes");
  return std::string(body.substr(0, body.size() - kRecordFooterBytes));
}

std::uint64_t TFRecordIterator::payload(std::string_view header) {
  try {
    return checked_payload_of_record(header);
  } catch (const DataLoss& error) {
    damaged(error.message());
  }
}

void TFRecordIterator::damaged(const std::string& what) {
  damage_ = cat(stream_->path(), ": at byte ", start_, " ", what);
  throw DataLoss(damage_);
}

}  // namespace runnel
