// Records as event files and TFRecord files frame them: length, checksum of the length, payload, checksum of
// the payload, one after another without header or padding. Source: formats 2.1. What is damaged is told, not
// decided on: readers differ in what they do then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace runnel {

inline constexpr std::size_t kRecordHeaderBytes = 12;  // length and its checksum
inline constexpr std::size_t kRecordFooterBytes = 4;   // checksum of the payload
inline constexpr std::uint64_t kMostRecordBytes =
    (std::uint64_t{1} << 31) - 1;  // what a protobuf message can hold

constexpr std::size_t record_bytes(std::size_t payload) {
  return kRecordHeaderBytes + payload + kRecordFooterBytes;
}

// Adds one framed record to the end of `out`.
void append_record(std::string& out, std::string_view payload);

// Frames a payload that lies in its place: kRecordHeaderBytes behind `record`, with room for the rest.
void frame_record(char* record, std::size_t payload);

// The length that a framed record begins with. Requires: kRecordHeaderBytes of it, undamaged.
std::size_t payload_of_record(const char* record);

// The same, trusting nothing: throws DataLoss (what is wrong, without a place) if the checksum does not match
// the length, or the length is over `most`. Requires: kRecordHeaderBytes.
std::uint64_t checked_payload_of_record(std::string_view header, std::uint64_t most = kMostRecordBytes);
// Whether a payload matches the checksum behind it. Requires: `body` is both.
bool is_sound_record(std::string_view body);

}  // namespace runnel
