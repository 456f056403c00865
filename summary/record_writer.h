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

// Adds one framed record to the end of `out`.
void append_record(std::string& out, std::string_view payload);

}  // namespace runnel
