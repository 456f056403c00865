// A file read from its start to its end, compressed or not, in as much memory as is asked for at once: what
// the readers of records and lines stand on.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "graph/io/compression.h"
#include "graph/io/file_system.h"

namespace runnel {

// Where the bytes of a stream come from: the file itself, or what inflating it gives.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // At least one byte behind the last ones, or none at the end.
  virtual std::string next() = 0;
};

// For one thread at a time.
class InputStream {
 public:
  // Throws NotFound and the like.
  InputStream(FileSystem& files, const std::string& path, Compression compression = Compression::kNone);

  // Whether the file has `count` bytes more. Memory is taken for what is there.
  bool holds(std::uint64_t count);
  // The next `count` bytes, fewer where the file ends; good until the next call. `peek` leaves them there.
  std::string_view read(std::uint64_t count);
  std::string_view peek(std::uint64_t count);
  // Passes over so many bytes; false if the file ends before.
  bool skip(std::uint64_t count);
  // Up to the next '\n', which is passed over and not in it; nothing at the end of the file. Throws
  // ResourceExhausted for a line of more than `most` bytes.
  std::optional<std::string_view> line(std::uint64_t most);

  std::uint64_t offset() const { return offset_; }  // of the next byte, counted after inflating
  const std::string& path() const { return path_; }

 private:
  std::string_view take(std::uint64_t count);

  std::string path_;
  std::unique_ptr<ByteSource> source_;
  std::string buffer_;
  std::size_t at_ = 0;  // in the buffer, of the next byte
  std::uint64_t offset_ = 0;
  bool ended_ = false;
};

}  // namespace runnel
