// zlib's streams; window bits 15, and 16 more for gzip's header.
#include "graph/io/inflate.h"

#include <algorithm>
#include <climits>
#include <utility>

#include <zlib.h>

#include "graph/error.h"

namespace runnel {
namespace {

constexpr std::size_t kChunkBytes = 256 * 1024;
constexpr int kMemoryLevel = 8;  // zlib's own default

int window_bits(Compression compression) {
  return compression == Compression::kGzip ? MAX_WBITS + 16 : MAX_WBITS;
}

// zlib takes pointers to bytes that are no const, and changes none of them.
Bytef* bytes_of(const char* at) { return reinterpret_cast<Bytef*>(const_cast<char*>(at)); }

}  // namespace

Compression compression_named(const std::string& name) {
  if (name.empty()) return Compression::kNone;
  if (name == "ZLIB") return Compression::kZlib;
  if (name == "GZIP") return Compression::kGzip;
  throw InvalidArgument(cat("the compression '", name, "' is none of '', 'ZLIB' and 'GZIP'"));
}

struct InflatingSource::State {
  std::unique_ptr<ByteSource> compressed;
  std::string path;
  Compression compression;
  std::string chunk;  // that zlib reads
  z_stream zlib{};
  bool within = false;  // a piece has begun and has not ended
  bool ended = false;

  [[noreturn]] void damaged(const char* why) const {
    throw DataLoss(cat(path, ": after ", zlib.total_in, " compressed bytes ", why));
  }

  // Bytes to inflate; false at the end of the file.
  bool feed() {
    if (zlib.avail_in > 0) return true;
    chunk = compressed->next();
    zlib.next_in = bytes_of(chunk.data());
    zlib.avail_in = static_cast<uInt>(chunk.size());
    return !chunk.empty();
  }
};

InflatingSource::InflatingSource(std::unique_ptr<ByteSource> compressed, std::string path,
                                 Compression compression)
    : state_(std::make_unique<State>()) {
  state_->compressed = std::move(compressed);
  state_->path = std::move(path);
  state_->compression = compression;
  if (inflateInit2(&state_->zlib, window_bits(compression)) != Z_OK)
    throw ResourceExhausted("no memory to inflate a file");
}

InflatingSource::~InflatingSource() { inflateEnd(&state_->zlib); }

std::string InflatingSource::next() {
  State& s = *state_;
  std::string out(kChunkBytes, '\0');
  s.zlib.next_out = bytes_of(out.data());
  s.zlib.avail_out = static_cast<uInt>(out.size());
  while (s.zlib.avail_out == out.size() && !s.ended) {
    if (!s.feed()) {
      if (s.within) s.damaged("the file ends, and what it holds does not: it is cut");
      s.ended = true;
      break;
    }
    s.within = true;
    const int result = inflate(&s.zlib, Z_NO_FLUSH);
    if (result == Z_STREAM_END) {
      s.within = false;
      inflateReset(&s.zlib);
    } else if (result != Z_OK && result != Z_BUF_ERROR) {
      s.damaged(s.compression == Compression::kGzip ? "the bytes are damaged, or not GZIP"
                                                    : "the bytes are damaged, or not ZLIB");
    }
  }
  out.resize(out.size() - s.zlib.avail_out);
  return out;
}

struct Deflater::State {
  z_stream zlib{};
};

Deflater::Deflater(Compression compression) : state_(std::make_unique<State>()) {
  if (deflateInit2(&state_->zlib, Z_DEFAULT_COMPRESSION, Z_DEFLATED, window_bits(compression), kMemoryLevel,
                   Z_DEFAULT_STRATEGY) != Z_OK)
    throw ResourceExhausted("no memory to compress a file");
}

Deflater::~Deflater() { deflateEnd(&state_->zlib); }

void Deflater::add(std::string_view bytes, std::string& out) {
  for (; !bytes.empty(); bytes.remove_prefix(std::min<std::size_t>(bytes.size(), INT_MAX)))
    run(bytes.substr(0, INT_MAX), Z_NO_FLUSH, out);
}
void Deflater::flush(std::string& out) { run({}, Z_SYNC_FLUSH, out); }
void Deflater::finish(std::string& out) { run({}, Z_FINISH, out); }

void Deflater::run(std::string_view bytes, int flush, std::string& out) {
  z_stream& zlib = state_->zlib;
  zlib.next_in = bytes_of(bytes.data());
  zlib.avail_in = static_cast<uInt>(bytes.size());
  do {
    const std::size_t before = out.size();
    out.resize(before + kChunkBytes);
    zlib.next_out = bytes_of(out.data() + before);
    zlib.avail_out = static_cast<uInt>(kChunkBytes);
    deflate(&zlib, flush);  // fails for wrong calls only
    out.resize(out.size() - zlib.avail_out);
  } while (zlib.avail_out == 0);
}

}  // namespace runnel
