// A buffer over chunks of the file. It grows by what was read, never by what a file claims.
#include "graph/io/input_stream.h"

#include <algorithm>
#include <utility>

#include "graph/error.h"
#include "graph/io/inflate.h"

namespace runnel {
namespace {

constexpr std::uint64_t kChunkBytes = 256 * 1024;

class FileSource final : public ByteSource {
 public:
  explicit FileSource(std::unique_ptr<ReadableFile> file) : file_(std::move(file)) {}
  std::string next() override {
    std::string bytes = file_->read_at(offset_, kChunkBytes);
    offset_ += bytes.size();
    return bytes;
  }

 private:
  std::unique_ptr<ReadableFile> file_;
  std::uint64_t offset_ = 0;
};

std::unique_ptr<ByteSource> source_of(FileSystem& files, const std::string& path, Compression compression) {
  auto file = std::make_unique<FileSource>(files.open_for_reading(path));
  if (compression == Compression::kNone) return file;
  return std::make_unique<InflatingSource>(std::move(file), path, compression);
}

}  // namespace

InputStream::InputStream(FileSystem& files, const std::string& path, Compression compression)
    : path_(path), source_(source_of(files, path, compression)) {}

bool InputStream::holds(std::uint64_t count) {
  while (buffer_.size() - at_ < count && !ended_) {
    const std::string more = source_->next();
    ended_ = more.empty();
    if (at_ > 0) buffer_.erase(0, std::exchange(at_, 0));
    buffer_ += more;
  }
  return buffer_.size() - at_ >= count;
}

std::string_view InputStream::take(std::uint64_t count) {
  const std::string_view bytes = std::string_view(buffer_).substr(at_, count);
  at_ += bytes.size();
  offset_ += bytes.size();
  return bytes;
}

std::string_view InputStream::peek(std::uint64_t count) {
  holds(count);
  return std::string_view(buffer_).substr(at_, count);
}

std::string_view InputStream::read(std::uint64_t count) {
  holds(count);
  return take(count);
}

bool InputStream::skip(std::uint64_t count) {
  while (count > 0 && holds(1)) count -= take(std::min<std::uint64_t>(count, kChunkBytes)).size();
  return count == 0;
}

std::optional<std::string_view> InputStream::line(std::uint64_t most) {
  for (std::uint64_t searched = 0;;) {
    const std::size_t end = buffer_.find('\n', at_ + searched);
    searched = std::min(end, buffer_.size()) - at_;
    if (searched > most)
      throw ResourceExhausted(cat(path_, ": the line at byte ", offset_, " has more than ", most, " bytes"));
    if (end != std::string::npos) {
      const std::string_view text = take(searched);
      take(1);
      return text;
    }
    if (!holds(searched + 1)) break;
  }
  if (at_ == buffer_.size()) return std::nullopt;
  return take(buffer_.size() - at_);
}

}  // namespace runnel
