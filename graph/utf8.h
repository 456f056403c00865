// Whether text is UTF-8, which protobuf's strings and JSON must be. Source: RFC 3629.
#pragma once

#include <cstddef>
#include <string_view>

namespace runnel {

// Length of the well-formed UTF-8 sequence at the front, 0 if there is none. Requires: text is not empty.
std::size_t utf8_sequence_length(std::string_view text);
bool is_utf8(std::string_view text);

}  // namespace runnel
