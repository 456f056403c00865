// The parts that need no template.
#include "kernels/string/number.h"

#include <algorithm>
#include <cstdint>

namespace runnel {
namespace {

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

}  // namespace

std::string_view stripped(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

bool is_huge(std::string_view digits, std::chars_format format) {
  const bool hex = format == std::chars_format::hex;
  const std::size_t mark = std::min(digits.find_first_of(hex ? "pP" : "eE"), digits.size());
  const std::string_view mantissa = digits.substr(0, mark);
  const std::size_t first = mantissa.find_first_not_of("0.");
  if (first == std::string_view::npos) return false;
  const auto point = static_cast<std::int64_t>(std::min(mantissa.find('.'), mantissa.size()));
  std::int64_t power = (point - static_cast<std::int64_t>(first)) * (hex ? 4 : 1);
  if (mark < digits.size()) {
    std::string_view exponent = digits.substr(mark + 1);
    if (exponent.starts_with('+')) exponent.remove_prefix(1);
    std::int64_t more = 0;
    const bool fits =
        std::from_chars(exponent.data(), exponent.data() + exponent.size(), more).ec == std::errc();
    if (!fits || more > (1 << 30) || more < -(1 << 30)) return !exponent.starts_with('-');
    power += more;
  }
  return power > 0;
}

}  // namespace runnel
