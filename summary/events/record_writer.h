// Records as event files and TFRecord files frame them: length, checksum of the length, payload, checksum of
// the payload, one after another without header or padding. Source: formats 2.1. Compressed record files are
// left out.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace runnel {

inline constexpr std::size_t kRecordHeaderBytes = 12;  // length and its checksum
inline constexpr std::size_t kRecordFooterBytes = 4;   // checksum of the payload

constexpr std::size_t record_bytes(std::size_t payload) {
  return kRecordHeaderBytes + payload + kRecordFooterBytes;
}

// Adds one framed record to the end of `out`.
void append_record(std::string& out, std::string_view payload);

// Frames a payload that lies in its place: kRecordHeaderBytes behind `record`, with room for the rest.
void frame_record(char* record, std::size_t payload);

// The length that a framed record begins with. Requires: kRecordHeaderBytes of it, undamaged.
std::size_t payload_of_record(const char* record);

}  // namespace runnel
