// Framing of records. Numbers are little-endian whatever the machine.
#include "summary/events/record_writer.h"

#include <cstdint>

#include "graph/io/crc32c.h"
#include "summary/events/wire_format.h"

namespace runnel {

void append_record(std::string& out, std::string_view payload) {
  const std::size_t start = out.size();
  out.resize(start + record_bytes(payload.size()));
  put_bytes(out.data() + start + kRecordHeaderBytes, payload);
  frame_record(out.data() + start, payload.size());
}

void frame_record(char* record, std::size_t payload) {
  char* const sum_of_length = put_number(record, static_cast<std::uint64_t>(payload));
  char* const bytes = put_number(sum_of_length, mask_crc(crc32c({record, sizeof(std::uint64_t)})));
  put_number(bytes + payload, mask_crc(crc32c({bytes, payload})));
}

std::size_t payload_of_record(const char* record) {
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < sizeof length; ++i)
    length |= static_cast<std::uint64_t>(static_cast<unsigned char>(record[i])) << (8 * i);
  return length;
}

}  // namespace runnel
