// The readers: lines of text, records of one length, TFRecord files, whole files, and names as they are.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "graph/error.h"
#include "graph/io/input_stream.h"
#include "graph/io/record_format.h"
#include "graph/io/tf_record.h"
#include "graph/kernel.h"
#include "kernels/reader/reader.h"

namespace runnel {
namespace {

constexpr std::uint64_t kMostLineBytes = 1 << 28;  // a file without line ends is no text

// Keys count lines from 1, those that were passed over, too. A '\r' at the end of a line is not part of it,
// and one that is all that stands behind the last '\n' is no line.
class LineSource final : public RecordSource {
 public:
  LineSource(FileSystem& files, const std::string& path, std::int64_t skipped) : stream_(files, path) {
    while (lines_ < skipped && stream_.line(kMostLineBytes)) ++lines_;
  }
  std::optional<KeyedRecord> next() override {
    const std::uint64_t start = stream_.offset();
    std::optional<std::string_view> line = stream_.line(kMostLineBytes);
    if (!line) return std::nullopt;
    const bool ended = stream_.offset() - start > line->size();
    if (line->ends_with('\r')) line->remove_suffix(1);
    if (line->empty() && !ended) return std::nullopt;
    return KeyedRecord{cat(stream_.path(), ":", ++lines_), std::string(*line)};
  }

 private:
  InputStream stream_;
  std::int64_t lines_ = 0;
};

struct LineFormat final : RecordFormat {
  explicit LineFormat(std::int64_t skipped) : skipped(skipped) {}
  std::unique_ptr<RecordSource> open(FileSystem& files, const std::string& path) const override {
    return std::make_unique<LineSource>(files, path, skipped);
  }
  std::int64_t skipped;
};

// Record i begins `hop` bytes behind the one before; the footer belongs to none.
struct FixedLength {
  std::uint64_t header, record, footer, hop;
  Compression compression;
};

class FixedLengthSource final : public RecordSource {
 public:
  FixedLengthSource(FileSystem& files, const std::string& path, const FixedLength& layout)
      : stream_(files, path, layout.compression), layout_(layout), there_(stream_.skip(layout.header)) {}
  std::optional<KeyedRecord> next() override {
    if (!there_ || !stream_.holds(layout_.record + layout_.footer)) return std::nullopt;
    KeyedRecord out{cat(stream_.path(), ":", records_++), std::string(stream_.peek(layout_.record))};
    there_ = stream_.skip(layout_.hop);
    return out;
  }

 private:
  InputStream stream_;
  FixedLength layout_;
  bool there_;
  std::int64_t records_ = 0;
};

struct FixedLengthFormat final : RecordFormat {
  explicit FixedLengthFormat(FixedLength layout) : layout(layout) {}
  std::unique_ptr<RecordSource> open(FileSystem& files, const std::string& path) const override {
    return std::make_unique<FixedLengthSource>(files, path, layout);
  }
  FixedLength layout;
};

// Keys are the places where the records begin.
class TFRecordSource final : public RecordSource {
 public:
  TFRecordSource(FileSystem& files, const std::string& path, Compression compression)
      : path_(path), records_(path, {.compression = compression, .files = &files}) {}
  std::optional<KeyedRecord> next() override {
    std::optional<std::string> record = records_.next();
    if (!record) return std::nullopt;
    return KeyedRecord{cat(path_, ":", records_.start()), std::move(*record)};
  }

 private:
  std::string path_;
  TFRecordIterator records_;
};

struct TFRecordFormat final : RecordFormat {
  explicit TFRecordFormat(Compression compression) : compression(compression) {}
  std::unique_ptr<RecordSource> open(FileSystem& files, const std::string& path) const override {
    return std::make_unique<TFRecordSource>(files, path, compression);
  }
  Compression compression;
};

// The key is the file's name. A file that cannot be read is tried again at the next read, as in TensorFlow.
class WholeFileSource final : public RecordSource {
 public:
  WholeFileSource(FileSystem& files, std::string path) : files_(files), path_(std::move(path)) {}
  std::optional<KeyedRecord> next() override { return KeyedRecord{path_, read_file(files_, path_)}; }
  bool is_whole() const override { return true; }

 private:
  FileSystem& files_;
  std::string path_;
};

struct WholeFileFormat final : RecordFormat {
  std::unique_ptr<RecordSource> open(FileSystem& files, const std::string& path) const override {
    return std::make_unique<WholeFileSource>(files, path);
  }
};

// A name is its own record: the queue's strings need not name files.
class NameSource final : public RecordSource {
 public:
  explicit NameSource(std::string name) : name_(std::move(name)) {}
  std::optional<KeyedRecord> next() override { return KeyedRecord{name_, name_}; }
  bool is_whole() const override { return true; }

 private:
  std::string name_;
};

struct NameFormat final : RecordFormat {
  std::unique_ptr<RecordSource> open(FileSystem&, const std::string& path) const override {
    return std::make_unique<NameSource>(path);
  }
};

std::uint64_t bytes_of(const Bind& b, const char* attr, std::int64_t least) {
  const std::int64_t value = b.integer(attr);
  if (value < least || static_cast<std::uint64_t>(value) > kMostRecordBytes)
    throw InvalidArgument(
        cat(attr, " is ", value, ", and must be at least ", least, " and at most ", kMostRecordBytes));
  return static_cast<std::uint64_t>(value);
}

std::unique_ptr<RecordFormat> lines(const Bind& b) {
  const std::int64_t skipped = b.integer("skip_header_lines");
  if (skipped < 0) throw InvalidArgument(cat("skip_header_lines is ", skipped, ", and must be at least 0"));
  return std::make_unique<LineFormat>(skipped);
}
std::unique_ptr<RecordFormat> fixed_length(const Bind& b) {
  FixedLength layout{bytes_of(b, "header_bytes", 0), bytes_of(b, "record_bytes", 1),
                     bytes_of(b, "footer_bytes", 0), bytes_of(b, "hop_bytes", 0), Compression::kNone};
  if (layout.hop == 0) layout.hop = layout.record;
  if (b.node().attr("encoding")) layout.compression = compression_named(b.node().bytes("encoding"));
  return std::make_unique<FixedLengthFormat>(layout);
}
std::unique_ptr<RecordFormat> tf_records(const Bind& b) {
  return std::make_unique<TFRecordFormat>(compression_named(b.node().bytes("compression_type")));
}
std::unique_ptr<RecordFormat> whole_files(const Bind&) { return std::make_unique<WholeFileFormat>(); }
std::unique_ptr<RecordFormat> names(const Bind&) { return std::make_unique<NameFormat>(); }

template <std::unique_ptr<RecordFormat> (*kFormat)(const Bind&)>
void bind_reader(Bind& b) {
  b.make_resource<Reader>([&] { return std::make_shared<Reader>(b.node().name(), kFormat(b), b.files()); });
  if (b.output("reader_handle").dtype != DType::kString) return b.run([](Context&) {});
  const std::string& shared = b.node().bytes("shared_name");
  b.run([out = b.out<std::string>("reader_handle"), container = b.node().bytes("container"),
         name = shared.empty() ? b.node().name() : shared](Context& c) {
    c[out][0] = container;
    c[out][1] = name;
  });
}

const KernelRegistration kTextLineReader{"TextLineReader", any, bind_reader<lines>};
const KernelRegistration kTextLineReaderV2{"TextLineReaderV2", any, bind_reader<lines>};
const KernelRegistration kFixedLength{"FixedLengthRecordReader", any, bind_reader<fixed_length>};
const KernelRegistration kFixedLengthV2{"FixedLengthRecordReaderV2", any, bind_reader<fixed_length>};
const KernelRegistration kTFRecordReader{"TFRecordReader", any, bind_reader<tf_records>};
const KernelRegistration kTFRecordReaderV2{"TFRecordReaderV2", any, bind_reader<tf_records>};
const KernelRegistration kWholeFileReader{"WholeFileReader", any, bind_reader<whole_files>};
const KernelRegistration kWholeFileReaderV2{"WholeFileReaderV2", any, bind_reader<whole_files>};
const KernelRegistration kIdentityReader{"IdentityReader", any, bind_reader<names>};
const KernelRegistration kIdentityReaderV2{"IdentityReaderV2", any, bind_reader<names>};

}  // namespace
}  // namespace runnel
