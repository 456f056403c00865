// Numbers as files hold them: little-endian, whatever the machine.
#pragma once

#include <cstddef>
#include <string_view>

namespace runnel {

// Writes at `at` and returns where it ended.
template <class T>
char* put_number(char* at, T number) {
  for (std::size_t i = 0; i < sizeof(T); ++i) *at++ = static_cast<char>(number >> (8 * i) & 0xff);
  return at;
}

// Requires: the bytes are there.
template <class T>
T number_at(std::string_view bytes, std::size_t at) {
  T number = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i)
    number |= static_cast<T>(static_cast<T>(static_cast<unsigned char>(bytes[at + i])) << (8 * i));
  return number;
}

}  // namespace runnel
