// CRC-32C against RFC 3720's vectors, and the instruction against the table.
#include "graph/io/crc32c.h"

#include <doctest/doctest.h>

#include <string>

using namespace runnel;

TEST_CASE("checksums are those of RFC 3720, appendix B.4") {
  std::string rising(32, '\0'), falling(32, '\0');
  for (int i = 0; i < 32; ++i) {
    rising[i] = static_cast<char>(i);
    falling[i] = static_cast<char>(31 - i);
  }
  CHECK(crc32c(std::string(32, '\0')) == 0x8a9136aa);
  CHECK(crc32c(std::string(32, '\xff')) == 0x62a8ab43);
  CHECK(crc32c(rising) == 0x46dd794e);
  CHECK(crc32c(falling) == 0x113fdb5c);
  CHECK(crc32c("123456789") == 0xe3069283);
  CHECK(crc32c("") == 0);
}

TEST_CASE("the processor's instruction and the table agree at every length and alignment") {
  std::string bytes(40000, '\0');
  std::uint32_t state = 1;
  for (char& c : bytes) c = static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
  for (std::size_t length = 0; length <= bytes.size() - 8; length += length < 300 ? 1 : 511) {
    CAPTURE(length);
    const std::string_view part = std::string_view(bytes).substr(length % 8, length);
    REQUIRE(crc32c_extend(length, part) == crc32c_extend_by_table(length, part));
  }
}

TEST_CASE("a checksum goes on from any cut") {
  const std::string bytes = "The quick brown fox jumps over the lazy dog";
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut)
    CHECK(crc32c_extend(crc32c(bytes.substr(0, cut)), bytes.substr(cut)) == crc32c(bytes));
}

TEST_CASE("checksums of two parts join to that of the whole, whatever the lengths") {
  std::string bytes(100000, '\0');
  std::uint32_t state = 2;
  for (char& c : bytes) c = static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
  const std::string_view all = bytes;
  for (const std::size_t cut : {0u, 1u, 7u, 4096u, 65537u, 99999u, 100000u}) {
    CAPTURE(cut);
    CHECK(crc32c_joined(crc32c(all.substr(0, cut)), crc32c(all.substr(cut)), all.size() - cut) ==
          crc32c(all));
  }
}

TEST_CASE("masking turns back and gives the checkpoint format's value for no bytes") {
  CHECK(mask_crc(crc32c("")) == 0xa282ead8);
  CHECK(mask_crc(crc32c(std::string("\0\0\0\x3f", 4))) == 0x1f273806);
  for (const std::uint32_t crc : {0u, 1u, 0xe3069283u, 0xffffffffu}) CHECK(unmask_crc(mask_crc(crc)) == crc);
}
