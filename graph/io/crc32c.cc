// Appending k zero bytes to a message is a linear map of its checksum's 32 bits, so the checksums of three
// neighbouring stretches, taken side by side, are joined by two such maps (kept as four tables of 256
// entries).
#include "graph/io/crc32c.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <utility>

#ifdef __SSE4_2__
#include <nmmintrin.h>
#endif

namespace runnel {
namespace {

constexpr std::uint32_t kPolynomial = 0x82f63b78;  // 0x1edc6f41 with its bits reversed

constexpr std::array<std::uint32_t, 256> byte_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t c = i;
    for (int bit = 0; bit < 8; ++bit) c = (c >> 1) ^ (c & 1 ? kPolynomial : 0);
    table[i] = c;
  }
  return table;
}
constexpr auto kBytes = byte_table();

using Map = std::array<std::uint32_t, 32>;  // what each bit of a checksum becomes

std::uint32_t mapped(const Map& map, std::uint32_t crc) {
  std::uint32_t sum = 0;
  for (std::size_t bit = 0; crc != 0; ++bit, crc >>= 1)
    if (crc & 1) sum ^= map[bit];
  return sum;
}

// Appends 2^k zero bytes to a checksum.
const Map& zeros(std::size_t k) {
  static const std::array<Map, 64> maps = [] {
    std::array<Map, 64> made{};
    for (std::uint32_t bit = 0; bit < 32; ++bit) {
      const std::uint32_t c = std::uint32_t{1} << bit;
      made[0][bit] = kBytes[c & 255] ^ (c >> 8);
    }
    for (std::size_t i = 1; i < made.size(); ++i)  // twice as many each
      for (std::size_t bit = 0; bit < 32; ++bit) made[i][bit] = mapped(made[i - 1], made[i - 1][bit]);
    return made;
  }();
  return maps[k];
}

#ifdef __SSE4_2__

// Appends `bytes` zero bytes, a power of two, to a checksum.
class Zeros {
 public:
  explicit Zeros(std::size_t bytes) {
    const Map& map = zeros(static_cast<std::size_t>(std::countr_zero(bytes)));
    for (std::uint32_t byte = 0; byte < 4; ++byte)
      for (std::uint32_t value = 0; value < 256; ++value)
        table_[byte][value] = mapped(map, value << (8 * byte));
  }
  std::uint32_t operator()(std::uint32_t c) const {
    return table_[0][c & 255] ^ table_[1][(c >> 8) & 255] ^ table_[2][(c >> 16) & 255] ^ table_[3][c >> 24];
  }

 private:
  std::array<std::array<std::uint32_t, 256>, 4> table_;
};

template <class Word = std::uint64_t>
Word load(const char* at) {
  Word word;
  std::memcpy(&word, at, sizeof word);
  return word;
}

// Takes rounds of three stretches off the front of [at, at + left), each chain one stretch. Long stretches
// join seldom; what lies ahead in memory is asked for, since three places at once are more than the processor
// follows by itself.
template <std::size_t stretch>
void take_rounds(std::uint64_t& crc, const char*& at, std::size_t& left) {
  if (left < 3 * stretch) return;  // before the table is asked for
  static const Zeros after_stretch(stretch);
  constexpr std::size_t kLine = 64, kAhead = 512;
  for (; left >= 3 * stretch; left -= 3 * stretch, at += 3 * stretch) {
    std::uint64_t a = crc, b = 0, c = 0;
    for (std::size_t line = 0; line < stretch; line += kLine) {
      const char* const first = at + line;
      for (int chain = 0; chain < 3; ++chain) _mm_prefetch(first + chain * stretch + kAhead, _MM_HINT_T0);
      for (std::size_t i = 0; i < kLine; i += 8) {
        a = _mm_crc32_u64(a, load(first + i));
        b = _mm_crc32_u64(b, load(first + stretch + i));
        c = _mm_crc32_u64(c, load(first + 2 * stretch + i));
      }
    }
    const std::uint32_t ab = after_stretch(static_cast<std::uint32_t>(a)) ^ static_cast<std::uint32_t>(b);
    crc = after_stretch(ab) ^ static_cast<std::uint32_t>(c);
  }
}

std::uint32_t extend_by_instruction(std::uint32_t crc, const char* at, std::size_t left) {
  std::uint64_t sum = ~crc;
  take_rounds<4096>(sum, at, left);
  take_rounds<1024>(sum, at, left);
  take_rounds<256>(sum, at, left);
  for (; left >= 8; left -= 8, at += 8) sum = _mm_crc32_u64(sum, load(at));
  auto rest = static_cast<std::uint32_t>(sum);
  if (left & 4) rest = _mm_crc32_u32(rest, load<std::uint32_t>(std::exchange(at, at + 4)));
  if (left & 2) rest = _mm_crc32_u16(rest, load<std::uint16_t>(std::exchange(at, at + 2)));
  if (left & 1) rest = _mm_crc32_u8(rest, static_cast<unsigned char>(*at));
  return ~rest;
}

#endif

}  // namespace

std::uint32_t crc32c_extend_by_table(std::uint32_t crc, std::string_view bytes) {
  std::uint32_t c = ~crc;
  for (const char byte : bytes) c = kBytes[(c ^ static_cast<unsigned char>(byte)) & 255] ^ (c >> 8);
  return ~c;
}

std::uint32_t crc32c_joined(std::uint32_t first, std::uint32_t second, std::uint64_t count) {
  for (std::size_t k = 0; count != 0; ++k, count >>= 1)
    if (count & 1) first = mapped(zeros(k), first);
  return first ^ second;
}

std::uint32_t crc32c_extend(std::uint32_t crc, std::string_view bytes) {
#ifdef __SSE4_2__
  return extend_by_instruction(crc, bytes.data(), bytes.size());
#else
  return crc32c_extend_by_table(crc, bytes);
#endif
}

}  // namespace runnel
