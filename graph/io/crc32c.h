// CRC-32C (Castagnoli), the checksum of event files, checkpoint tables and checkpoint data. The processor's
// own instruction does the work where it exists, on three stretches at once since each instruction waits for
// the one before. Source: RFC 3720 appendix B.4 for the polynomial and test vectors; the masking is that of
// LevelDB's files.
#pragma once

#include <cstdint>
#include <string_view>

namespace runnel {

// The checksum of what `crc` covers followed by `bytes`; start from 0.
std::uint32_t crc32c_extend(std::uint32_t crc, std::string_view bytes);
inline std::uint32_t crc32c(std::string_view bytes) { return crc32c_extend(0, bytes); }
// The checksum of bytes whose first part has checksum `first` and whose other part, of `count` bytes, has
// checksum `second`: parts may be taken side by side.
std::uint32_t crc32c_joined(std::uint32_t first, std::uint32_t second, std::uint64_t count);
// The same numbers from a table, for processors without the instruction; callable everywhere so that tests
// compare.
std::uint32_t crc32c_extend_by_table(std::uint32_t crc, std::string_view bytes);

// Files store checksums masked, since the checksum of bytes that end in their own checksum tells nothing.
inline constexpr std::uint32_t kCrcMaskDelta = 0xa282ead8;
constexpr std::uint32_t mask_crc(std::uint32_t crc) { return ((crc >> 15) | (crc << 17)) + kCrcMaskDelta; }
constexpr std::uint32_t unmask_crc(std::uint32_t masked) {
  const std::uint32_t rotated = masked - kCrcMaskDelta;
  return (rotated >> 17) | (rotated << 15);
}

}  // namespace runnel
