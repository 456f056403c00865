// Inflating and deflating, by zlib (RFC 1950 and 1952), chunk by chunk.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "graph/io/compression.h"
#include "graph/io/input_stream.h"

namespace runnel {

// What a compressed file holds. One piece after another is read as one, as gzip has it. Each call gives one
// chunk, so a small file that inflates to a huge one takes time, not memory.
class InflatingSource final : public ByteSource {
 public:
  InflatingSource(std::unique_ptr<ByteSource> compressed, std::string path, Compression compression);
  ~InflatingSource() override;
  InflatingSource(const InflatingSource&) = delete;
  InflatingSource& operator=(const InflatingSource&) = delete;

  // Throws DataLoss with the path for bytes that are not compressed so, and for a file that is cut.
  std::string next() override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

class Deflater {
 public:
  explicit Deflater(Compression compression);  // Requires: not kNone
  ~Deflater();
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;

  // The compressed bytes that are due, at the end of `out`. After a flush all that was given can be read.
  void add(std::string_view bytes, std::string& out);
  void flush(std::string& out);
  void finish(std::string& out);

 private:
  struct State;
  void run(std::string_view bytes, int flush, std::string& out);
  std::unique_ptr<State> state_;
};

}  // namespace runnel
