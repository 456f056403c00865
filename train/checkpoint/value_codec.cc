// Values to bytes and back, with their checksums.
#include "train/checkpoint/value_codec.h"

#include "graph/io/crc32c.h"
#include "train/checkpoint/number_reading.h"

namespace runnel {
namespace {

constexpr std::uint64_t kCrcBytes = 4;
constexpr std::size_t kPiece = 1 << 17;  // summed, then written while it is in the cache
constexpr const char* kAdvice = "; restore an older checkpoint or copy it again";

std::string place_of(const std::string& name, const ReadableFile& file) {
  return cat("the value of ", quoted(name), " in '", file.path(), "'");
}

void put_varint(std::string& out, std::uint64_t value) {
  for (; value >= 128; value >>= 7) out += static_cast<char>(value | 128);
  out += static_cast<char>(value);
}

template <class T>
std::string_view as_bytes(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

// Lengths enter the checksum as four bytes, or eight where four do not do.
std::uint32_t extend_by_length(std::uint32_t crc, std::uint64_t length) {
  if (length > UINT32_MAX) return crc32c_extend(crc, as_bytes(length));
  return crc32c_extend(crc, as_bytes(static_cast<std::uint32_t>(length)));
}

EncodedValue encode_strings(const Tensor& tensor, const std::function<void(std::string_view)>& append) {
  const auto strings = tensor.values<std::string>();
  std::string lengths;
  std::uint32_t crc = 0;
  for (const auto& text : strings) {
    put_varint(lengths, text.size());
    crc = extend_by_length(crc, text.size());
  }
  const std::uint32_t lengths_crc = mask_crc(crc);
  lengths += as_bytes(lengths_crc);
  crc = crc32c_extend(crc, as_bytes(lengths_crc));
  append(lengths);
  std::uint64_t size = lengths.size();
  for (const auto& text : strings) {
    crc = crc32c_extend(crc, text);
    append(text);
    size += text.size();
  }
  return {size, mask_crc(crc)};
}

// Bytes of a data file, taken from the front with every step checked.
class Bytes {
 public:
  // `place` is for messages.
  Bytes(std::string_view bytes, const std::string& place) : left_(bytes), place_(place) {}

  std::string_view take(std::uint64_t count) {
    if (count > left_.size()) fail("its strings go past its bytes");
    const std::string_view taken = left_.substr(0, count);
    left_.remove_prefix(count);
    return taken;
  }
  std::uint64_t take_varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(take(1)[0]);
      value |= static_cast<std::uint64_t>(byte & 127) << shift;
      if (byte < 128) return value;
    }
    fail("a length is no number");
  }
  std::uint64_t left() const { return left_.size(); }
  [[noreturn]] void fail(const char* what) const {
    throw DataLoss(cat(place_, " is damaged: ", what, kAdvice));
  }

 private:
  std::string_view left_;
  const std::string& place_;
};

std::string_view decode_lengths(Bytes& bytes, std::vector<std::uint64_t>& lengths, std::uint32_t& crc) {
  std::uint64_t sum = 0;
  for (auto& length : lengths) {
    length = bytes.take_varint();
    if (length > bytes.left() || (sum += length) > bytes.left()) bytes.fail("its strings go past its bytes");
    crc = extend_by_length(crc, length);
  }
  const std::string_view stored = bytes.take(kCrcBytes);
  if (as_bytes(mask_crc(crc)) != stored) bytes.fail("the checksum of its lengths is wrong");
  if (bytes.left() != sum) bytes.fail("it has bytes that belong to no string");
  return stored;
}

Tensor decode_strings(const BundleEntry& entry, const std::string& place, std::string_view raw) {
  Bytes bytes(raw, place);
  const auto count = static_cast<std::uint64_t>(entry.shape.elements());
  if (raw.size() < kCrcBytes || count > raw.size() - kCrcBytes) bytes.fail("fewer bytes than strings");
  std::vector<std::uint64_t> lengths(count);
  std::uint32_t crc = 0;
  const std::string_view stored = decode_lengths(bytes, lengths, crc);
  crc = crc32c_extend(crc, stored);
  Tensor tensor(DType::kString, entry.shape);
  auto strings = tensor.mutable_values<std::string>();
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::string_view text = bytes.take(lengths[i]);
    crc = crc32c_extend(crc, text);
    strings[i] = text;
  }
  if (mask_crc(crc) != entry.crc) bytes.fail("its checksum is wrong");
  return tensor;
}

Tensor decode_numbers(const BundleEntry& entry, const std::string& name, const ReadableFile& file) {
  NumberReading reading(entry, name, file, file.size());
  for (std::int64_t part = 0; part < reading.parts(); ++part) reading.read(part);
  return reading.finish();
}

}  // namespace

void throw_damaged(const std::string& name, const ReadableFile& file, const std::string& what) {
  throw DataLoss(cat(place_of(name, file), " is damaged: ", what, kAdvice));
}

bool is_storable(DType type) { return type == DType::kString || (!is_ref(type) && size_of(type) > 0); }

EncodedValue encode_value(const Tensor& tensor, const std::function<void(std::string_view)>& append) {
  if (tensor.dtype() == DType::kString) return encode_strings(tensor, append);
  const std::string_view bytes(static_cast<const char*>(tensor.data()), tensor.bytes());
  std::uint32_t crc = 0;
  for (std::size_t at = 0; at < bytes.size(); at += kPiece) {
    const std::string_view piece = bytes.substr(at, kPiece);
    crc = crc32c_extend(crc, piece);
    append(piece);
  }
  return {bytes.size(), mask_crc(crc)};
}

Tensor decode_value(const BundleEntry& entry, const std::string& name, const ReadableFile& file) {
  if (!is_storable(entry.dtype))
    throw Unimplemented(
        cat(quoted(name), " is of type ", entry.dtype, ", whose values Runnel does not read"));
  if (entry.dtype != DType::kString) return decode_numbers(entry, name, file);
  require_inside(entry, name, file, file.size());
  return decode_strings(entry, place_of(name, file), file.read_at(entry.offset, entry.size));
}

}  // namespace runnel
