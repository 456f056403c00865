// A number that a whole text spells, blanks around it aside; with a sign, and for floats also "1e3", "0x1p3",
// "inf", "nan". Floats that are too large are infinite, too small ones 0, whatever the locale. Source:
// TensorFlow's StringToNumber, tried out.
#pragma once

#include <charconv>
#include <limits>
#include <optional>
#include <string_view>
#include <system_error>
#include <type_traits>

namespace runnel {

// Without blanks (C's isspace) at both ends.
std::string_view stripped(std::string_view text);

// Whether digits that a float cannot hold are too large, not too small: the power of ten of the first digit
// that is not 0 decides. Requires: digits with point and exponent, as from_chars takes them.
bool is_huge(std::string_view digits, std::chars_format format);

template <class T>
std::optional<T> float_of(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text.starts_with('-')) return {};
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  if (hex) text.remove_prefix(2);
  if (hex && (text.empty() || text.find_first_of("0123456789abcdefABCDEF.") != 0)) return {};  // no "0xinf"
  const std::chars_format format = hex ? std::chars_format::hex : std::chars_format::general;
  T number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, format);
  if (error == std::errc::invalid_argument || end != text.data() + text.size()) return {};
  if (error == std::errc::result_out_of_range)
    number = is_huge(text, format) ? std::numeric_limits<T>::infinity() : T(0);
  return negative ? -number : number;
}

template <class T>
std::optional<T> number_of(std::string_view text) {
  text = stripped(text);
  if constexpr (std::is_floating_point_v<T>) {
    return float_of<T>(text);
  } else {
    if (text.starts_with('+')) {
      text.remove_prefix(1);
      if (text.starts_with('-')) return {};
    }
    T number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) return {};
    return number;
  }
}

}  // namespace runnel
