// Framing of records, and what a reader can tell of them.
#include "graph/io/record_format.h"

#include <algorithm>

#include "graph/error.h"
#include "graph/io/crc32c.h"
#include "graph/io/little_endian.h"

namespace runnel {
namespace {

bool matches(std::string_view bytes, std::uint32_t masked) { return mask_crc(crc32c(bytes)) == masked; }

}  // namespace

void append_record(std::string& out, std::string_view payload) {
  const std::size_t start = out.size();
  out.resize(start + record_bytes(payload.size()));
  std::copy(payload.begin(), payload.end(), out.data() + start + kRecordHeaderBytes);
  frame_record(out.data() + start, payload.size());
}

void frame_record(char* record, std::size_t payload) {
  char* const sum_of_length = put_number(record, static_cast<std::uint64_t>(payload));
  char* const bytes = put_number(sum_of_length, mask_crc(crc32c({record, sizeof(std::uint64_t)})));
  put_number(bytes + payload, mask_crc(crc32c({bytes, payload})));
}

std::size_t payload_of_record(const char* record) {
  return number_at<std::uint64_t>({record, sizeof(std::uint64_t)}, 0);
}

std::uint64_t checked_payload_of_record(std::string_view header, std::uint64_t most) {
  if (!matches(header.substr(0, 8), number_at<std::uint32_t>(header, 8)))
    throw DataLoss("the checksum of the record's length does not match it, so no later record can be found");
  const auto length = number_at<std::uint64_t>(header, 0);
  if (length > most) throw DataLoss(cat("the record claims ", length, " bytes, the limit is ", most));
  return length;
}

bool is_sound_record(std::string_view body) {
  const std::size_t length = body.size() - kRecordFooterBytes;
  return matches(body.substr(0, length), number_at<std::uint32_t>(body, length));
}

}  // namespace runnel
