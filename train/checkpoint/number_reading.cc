// Parts of a megabyte, each read in pieces that stay in the cache until they are summed.
#include "train/checkpoint/number_reading.h"

#include <algorithm>
#include <cstring>

#include "graph/io/crc32c.h"
#include "train/checkpoint/value_codec.h"

namespace runnel {
namespace {

constexpr std::uint64_t kPart = 1 << 20;
constexpr std::uint64_t kPiece = 1 << 17;

}  // namespace

void require_inside(const BundleEntry& entry, const std::string& name, const ReadableFile& file,
                    std::uint64_t size) {
  if (entry.offset > size || entry.size > size - entry.offset)
    throw_damaged(name, file,
                  cat(entry.size, " bytes at ", entry.offset, " are wanted and the file has ", size));
}

NumberReading::NumberReading(const BundleEntry& entry, const std::string& name, const ReadableFile& file,
                             std::uint64_t file_size)
    : name_(name), file_(file), offset_(entry.offset), size_(entry.size), crc_(entry.crc) {
  require_inside(entry, name_, file_, file_size);
  const auto wanted = static_cast<unsigned __int128>(entry.shape.elements()) * size_of(entry.dtype);
  if (wanted != size_) damaged(cat(size_, " bytes do not make ", entry.dtype, entry.shape));
  tensor_ = Tensor(entry.dtype, entry.shape);
  into_ = static_cast<char*>(tensor_.mutable_data());
  crcs_.resize(std::max<std::uint64_t>(1, (size_ + kPart - 1) / kPart));
}

std::uint64_t NumberReading::size_of_part(std::int64_t part) const {
  return std::min(kPart, size_ - static_cast<std::uint64_t>(part) * kPart);
}

void NumberReading::read(std::int64_t part) {
  const std::uint64_t begin = static_cast<std::uint64_t>(part) * kPart, end = begin + size_of_part(part);
  std::uint32_t crc = 0;
  for (std::uint64_t at = begin; at < end; at += kPiece) {
    const std::span<char> piece(into_ + at, std::min(kPiece, end - at));
    if (file_.read_at(offset_ + at, piece) != piece.size()) damaged("the file ends before it");
    crc = crc32c_extend(crc, {piece.data(), piece.size()});
  }
  crcs_[static_cast<std::size_t>(part)] = crc;
}

void NumberReading::take(std::string_view bytes) {
  std::memcpy(into_, bytes.data(), bytes.size());
  crcs_[0] = crc32c(bytes);
}

Tensor NumberReading::finish() {
  std::uint32_t crc = crcs_[0];
  for (std::int64_t part = 1; part < parts(); ++part)
    crc = crc32c_joined(crc, crcs_[static_cast<std::size_t>(part)], size_of_part(part));
  if (mask_crc(crc) != crc_) damaged("its checksum is wrong");
  if (tensor_.dtype() == DType::kBool &&
      std::any_of(into_, into_ + size_, [](char c) { return c != 0 && c != 1; }))
    damaged("a bool that is neither 0 nor 1");
  return std::move(tensor_);
}

void NumberReading::damaged(const std::string& what) const { throw_damaged(name_, file_, what); }

}  // namespace runnel
