// Within single quotes a shell takes every byte as it is but the quote itself.
#include "train/cli/shell_text.h"

#include <algorithm>

namespace runnel {
namespace {

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < ' ' || byte == 0x7f;
}

std::string octal(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return {'\\', static_cast<char>('0' + (byte >> 6)), static_cast<char>('0' + (byte >> 3 & 7)),
          static_cast<char>('0' + (byte & 7))};
}

}  // namespace

std::string quoted_for_shell(std::string_view text) {
  const bool odd = std::any_of(text.begin(), text.end(), is_control);
  std::string out = odd ? "$'" : "'";
  for (const char c : text) {
    if (odd && (is_control(c) || c == '\'' || c == '\\'))
      out += octal(c);
    else if (c == '\'')
      out += "'\\''";
    else
      out += c;
  }
  return out + "'";
}

}  // namespace runnel
