// A PNG file of 8-bit pixels read back, as far as our own need it: the two filters that we write, all chunks
// checked.
#pragma once

#include <doctest/doctest.h>
#include <zlib.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "summary/values/png.h"

namespace runnel {

struct DecodedPng {
  ImageSize size;
  std::vector<std::uint8_t> pixels;
};

inline std::uint32_t big_endian(std::string_view bytes) {
  std::uint32_t out = 0;
  for (int i = 0; i < 4; ++i) out = out << 8 | static_cast<unsigned char>(bytes[static_cast<std::size_t>(i)]);
  return out;
}

// The data of the chunk at the front of `rest`, which it leaves.
inline std::string_view take_chunk(std::string_view& rest, std::string_view type) {
  const std::size_t length = big_endian(rest);
  REQUIRE(rest.size() >= length + 12);
  REQUIRE(rest.substr(4, 4) == type);
  const auto* checked = reinterpret_cast<const Bytef*>(rest.data() + 4);
  REQUIRE(crc32(0, checked, static_cast<uInt>(length + 4)) == big_endian(rest.substr(8 + length)));
  const std::string_view data = rest.substr(8, length);
  rest.remove_prefix(length + 12);
  return data;
}

inline DecodedPng decoded_png(std::string_view file) {
  file.remove_prefix(8);
  const std::string_view header = take_chunk(file, "IHDR"), stream = take_chunk(file, "IDAT");
  take_chunk(file, "IEND");
  REQUIRE(file.empty());
  DecodedPng out;
  out.size = {big_endian(header.substr(4)), big_endian(header), header[9] == 0 ? 1 : header[9] == 2 ? 3 : 4};
  const auto width = static_cast<std::size_t>(out.size.width * out.size.channels);
  std::vector<std::uint8_t> rows((width + 1) * static_cast<std::size_t>(out.size.height));
  uLongf length = rows.size();
  REQUIRE(uncompress(rows.data(), &length, reinterpret_cast<const Bytef*>(stream.data()), stream.size()) ==
          Z_OK);
  REQUIRE(length == rows.size());
  for (std::size_t at = 0; at < rows.size(); at += width + 1) {
    REQUIRE((rows[at] == 0 || rows[at] == 2));  // as it is, or the difference to the row above
    for (std::size_t i = 1; i <= width; ++i) {
      const bool first = at == 0 || rows[at] == 0;
      const int above = first ? 0 : out.pixels[out.pixels.size() - width];
      out.pixels.push_back(static_cast<std::uint8_t>(rows[at + i] + above));
    }
  }
  return out;
}

}  // namespace runnel
