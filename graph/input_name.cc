// Reading inputs by hand: a hostile number must not overflow.
#include "graph/input_name.h"

#include "graph/attr.h"
#include "graph/error.h"

namespace runnel {

std::string InputName::text() const {
  return cat(control ? "^" : "", node, index > 0 ? cat(":", index) : "");
}

InputName parse_input(std::string_view text) {
  if (text.starts_with('^')) return {text.substr(1), 0, true};
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return {text, 0, false};
  int index = 0;
  const std::string_view digits = text.substr(colon + 1);
  for (const char c : digits) {
    if (c < '0' || c > '9' || index > kMostOutputs)
      throw InvalidArgument(cat("input ", shown(text), " has no valid output number"));
    index = index * 10 + (c - '0');
  }
  if (digits.empty() || index >= kMostOutputs)
    throw InvalidArgument(cat("input ", shown(text), " has no valid output number"));
  return {text.substr(0, colon), index, false};
}

std::string shown(std::string_view text) {
  constexpr std::size_t kLongest = 100;
  const std::string escaped = AttrValue(text.substr(0, kLongest)).text();
  return cat("'", std::string_view(escaped).substr(1, escaped.size() - 2),
             text.size() > kLongest ? "...'" : "'");
}

}  // namespace runnel
