// Protobuf's wire format by hand, for what is written millions of times a second: the fields of an event with
// one scalar. All else goes through protobuf itself. Source: protobuf's encoding guide; formats 1.1. Reading
// is left out.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "graph/io/little_endian.h"

namespace runnel {

enum class WireType { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

// The key of a field. One byte, so `field` is at most 15.
constexpr char wire_key(int field, WireType type) {
  return static_cast<char>(field << 3 | static_cast<int>(type));
}

constexpr std::size_t varint_bytes(std::uint64_t value) {
  return (static_cast<std::size_t>(std::bit_width(value | 1)) + 6) / 7;
}

inline constexpr std::size_t kMostVarintBytes = 10;

// These write at `at` and return where they ended.
inline char* put_varint(char* at, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) *at++ = static_cast<char>(value | 0x80);
  *at++ = static_cast<char>(value);
  return at;
}

inline char* put_bytes(char* at, std::string_view bytes) {
  if (!bytes.empty()) std::memcpy(at, bytes.data(), bytes.size());  // an empty view may be of nothing at all
  return at + bytes.size();
}

}  // namespace runnel
