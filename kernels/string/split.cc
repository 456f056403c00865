// StringSplit and StringSplitV2: strings cut into tokens, given as a sparse matrix with a row a string.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "graph/kernel.h"

namespace runnel {
namespace {

constexpr std::string_view kSpaces = " \t\n\v\f\r";

using Tokens = std::vector<std::string_view>;

// At any of the characters; at none given, between all bytes. An empty text has no token.
void split_at_any(std::string_view text, std::string_view characters, bool skip_empty, Tokens& tokens) {
  if (characters.empty()) {
    for (std::size_t i = 0; i < text.size(); ++i) tokens.push_back(text.substr(i, 1));
    return;
  }
  for (std::size_t at = 0; !text.empty() && at <= text.size();) {
    const std::size_t end = std::min(text.find_first_of(characters, at), text.size());
    if (end > at || !skip_empty) tokens.push_back(text.substr(at, end - at));
    at = end + 1;
  }
}

// At the separator, at most `most` times (negative: always).
void split_at(std::string_view text, std::string_view separator, std::int64_t most, Tokens& tokens) {
  for (; most != 0; --most) {
    const std::size_t end = text.find(separator);
    if (end == std::string_view::npos) break;
    tokens.push_back(text.substr(0, end));
    text.remove_prefix(end + separator.size());
  }
  tokens.push_back(text);
}

// At runs of blanks; what is left after `most` words is one more token, also if it is empty, as TensorFlow
// has it.
void split_at_spaces(std::string_view text, std::int64_t most, Tokens& tokens) {
  const auto strip = [&text] { text.remove_prefix(std::min(text.find_first_not_of(kSpaces), text.size())); };
  if (most != 0) strip();
  for (std::int64_t words = 0; words != most || most < 0; ++words) {
    if (text.empty()) return;
    const std::size_t end = std::min(text.find_first_of(kSpaces), text.size());
    tokens.push_back(text.substr(0, end));
    text.remove_prefix(end);
    strip();
  }
  tokens.push_back(text);
}

struct Slots {
  In<std::string> in;
  Out<std::int64_t> indices;
  Out<std::string> values;
  Out<std::int64_t> shape;
};
Slots slots_of(const Bind& b) {
  return {b.in<std::string>("input"), b.out<std::int64_t>("indices"), b.out<std::string>("values"),
          b.out<std::int64_t>("shape")};
}

// `split` adds the tokens of one text.
template <class Split>
void split_all(Context& c, const Slots& slots, std::int64_t n, Split split) {
  Tokens tokens;
  std::vector<std::size_t> ends;  // of each row
  std::size_t most = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::size_t before = tokens.size();
    split(c[slots.in][i], tokens);
    ends.push_back(tokens.size());
    most = std::max(most, tokens.size() - before);
  }
  const auto count = static_cast<std::int64_t>(tokens.size());
  std::int64_t* place = c.room(slots.indices, {count, 2});
  std::copy(tokens.begin(), tokens.end(), c.room(slots.values, {count}));
  for (std::size_t row = 0, at = 0; row < ends.size(); ++row)
    for (std::int64_t column = 0; at < ends[row]; ++at, ++column) {
      *place++ = static_cast<std::int64_t>(row);
      *place++ = column;
    }
  std::int64_t* const shape = c.room(slots.shape, {2});
  shape[0] = n;
  shape[1] = static_cast<std::int64_t>(most);
}

const KernelRegistration kStringSplit{
    "StringSplit", any, [](Bind& b) {
      b.run([slots = slots_of(b), n = b.input("input").shape.elements(), skip = b.flag("skip_empty"),
             delimiter = b.in<std::string>("delimiter")](Context& c) {
        split_all(c, slots, n, [&](std::string_view text, Tokens& tokens) {
          split_at_any(text, *c[delimiter], skip, tokens);
        });
      });
    }};

const KernelRegistration kStringSplitV2{
    "StringSplitV2", any, [](Bind& b) {
      b.run([slots = slots_of(b), n = b.input("input").shape.elements(), most = b.integer("maxsplit"),
             separator = b.in<std::string>("sep")](Context& c) {
        split_all(c, slots, n, [&](std::string_view text, Tokens& tokens) {
          if (c[separator]->empty()) {
            split_at_spaces(text, most, tokens);
          } else {
            split_at(text, *c[separator], most, tokens);
          }
        });
      });
    }};

}  // namespace
}  // namespace runnel
