// Framing of records. Numbers are little-endian whatever the machine.
#include "summary/record_writer.h"

#include <cstdint>

#include "graph/io/crc32c.h"

namespace runnel {
namespace {

template <class T>
void append_number(std::string& out, T number) {
  for (std::size_t i = 0; i < sizeof(T); ++i) out.push_back(static_cast<char>(number >> (8 * i) & 0xff));
}

}  // namespace

void append_record(std::string& out, std::string_view payload) {
  const std::size_t start = out.size();
  append_number(out, static_cast<std::uint64_t>(payload.size()));
  append_number(out, mask_crc(crc32c(std::string_view(out).substr(start))));
  out.append(payload);
  append_number(out, mask_crc(crc32c(payload)));
}

}  // namespace runnel
