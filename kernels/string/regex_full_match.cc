// StaticRegexFullMatch. A pattern is a row of atoms - a set of characters, how often it may stand there - and
// a text is walked once with the set of atoms that may come next, so that no pattern and no text makes it
// slow. Characters are those of UTF-8, as RE2's; a byte that belongs to none matches nothing. Groups,
// alternatives and counts are left out and refused by name.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "graph/kernel.h"

namespace runnel {
namespace {

using Character = std::int32_t;
constexpr Character kNone = -1;          // what is no UTF-8
constexpr std::size_t kLongest = 1'000;  // bytes of a pattern; each of them costs a step a character

Character next_character(std::string_view text, std::size_t& at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(at++);
  if (first < 0x80) return first;
  const int more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
  if (first < 0xc2 || first > 0xf4 || at + static_cast<std::size_t>(more) > text.size()) return kNone;
  Character value = first & (0x3f >> more);
  for (int i = 0; i < more; ++i) {
    if ((byte(at) & 0xc0) != 0x80) return kNone;
    value = value << 6 | (byte(at++) & 0x3f);
  }
  return value;
}

struct Range {
  Character first, last;
};

struct Atom {
  enum class Kind { kSet, kBegin, kEnd };
  Kind kind = Kind::kSet;
  std::vector<Range> ranges = {};
  bool negated = false;
  bool may_miss = false, may_repeat = false;

  bool matches(Character c) const {
    const bool within =
        std::ranges::any_of(ranges, [c](const Range& r) { return r.first <= c && c <= r.last; });
    return c != kNone && within != negated;
  }
};

class Pattern {
 public:
  explicit Pattern(std::string_view text) : text_(text) {
    if (text.size() > kLongest)
      throw InvalidArgument(cat("the pattern has ", text.size(), " bytes, more than ", kLongest));
    while (at_ < text_.size()) {
      atoms_.push_back(atom());
      quantify(atoms_.back());
    }
    text_ = {};
  }

  bool matches(std::string_view text) const {
    std::vector<char> now(atoms_.size() + 1), next(now.size());
    now[0] = 1;
    std::size_t at = 0;
    pass(now, at, text);
    while (at < text.size()) {
      const Character c = next_character(text, at);
      std::ranges::fill(next, 0);
      for (std::size_t i = 0; i < atoms_.size(); ++i) {
        if (!now[i] || atoms_[i].kind != Atom::Kind::kSet || !atoms_[i].matches(c)) continue;
        next[i + 1] = 1;
        if (atoms_[i].may_repeat) next[i] = 1;
      }
      pass(next, at, text);
      now.swap(next);
    }
    return now.back();
  }

 private:
  // What may come next without a character between: what is left out, and what stands for a place.
  void pass(std::vector<char>& states, std::size_t at, std::string_view text) const {
    for (std::size_t i = 0; i < atoms_.size(); ++i) {
      const bool here = atoms_[i].kind == Atom::Kind::kSet     ? atoms_[i].may_miss
                        : atoms_[i].kind == Atom::Kind::kBegin ? at == 0
                                                               : at == text.size();
      if (states[i] && here) states[i + 1] = 1;
    }
  }

  [[noreturn]] void refuse(const char* what) const {
    throw InvalidArgument(cat("the pattern '", text_, "' has ", what, " before position ", at_));
  }
  [[noreturn]] void lacks(std::string_view what) const {
    throw Unimplemented(cat("the pattern '", text_, "' uses ", what,
                            "; there are characters, sets, ., ^, $, *, + and ? only"));
  }

  Character character() {
    if (at_ == text_.size()) refuse("an unfinished part");
    const Character c = next_character(text_, at_);
    if (c == kNone) refuse("bytes that are no UTF-8");
    return c;
  }

  Atom atom() {
    const Character c = character();
    if (c == '^') return {.kind = Atom::Kind::kBegin};
    if (c == '$') return {.kind = Atom::Kind::kEnd};
    if (c == '.') return {.ranges = {{'\n', '\n'}}, .negated = true};
    if (c == '[') return set();
    if (c == '\\') return escaped();
    if (c == '*' || c == '+' || c == '?') refuse("nothing to repeat");
    if (c < 0x80 && std::string_view("(){|").find(static_cast<char>(c)) != std::string_view::npos)
      lacks(cat("'", static_cast<char>(c), "'"));
    return {.ranges = {{c, c}}};
  }

  Atom escaped() {
    const Character c = character();
    switch (c) {
      case 'd':
      case 'D': return {.ranges = {{'0', '9'}}, .negated = c == 'D'};
      case 'w':
      case 'W': return {.ranges = {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}, {'_', '_'}}, .negated = c == 'W'};
      case 's':
      case 'S': return {.ranges = {{'\t', '\n'}, {'\f', '\r'}, {' ', ' '}}, .negated = c == 'S'};
      case 'n': return {.ranges = {{'\n', '\n'}}};
      case 'r': return {.ranges = {{'\r', '\r'}}};
      case 't': return {.ranges = {{'\t', '\t'}}};
      default: break;
    }
    const bool letter = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    if (letter || c >= 0x80) lacks("an escape of a letter, a digit or what is not ASCII");
    return {.ranges = {{c, c}}};
  }

  Atom set() {
    Atom out;
    if (at_ < text_.size() && text_[at_] == '^') out.negated = ++at_ > 0;
    for (bool first = true;; first = false) {
      const Character c = character();
      if (c == ']' && !first) return out;
      if (c == '[' && at_ < text_.size() && text_[at_] == ':') lacks("a named set");
      if (c == '\\') {
        const Atom part = escaped();
        if (part.negated) lacks("an opposite within a set");
        out.ranges.insert(out.ranges.end(), part.ranges.begin(), part.ranges.end());
        continue;
      }
      out.ranges.push_back({c, c});
      if (at_ + 1 < text_.size() && text_[at_] == '-' && text_[at_ + 1] != ']') {
        ++at_;
        out.ranges.back().last = character();
        if (out.ranges.back().last == '\\') lacks("an escape at the end of a range");
        if (out.ranges.back().last < c) refuse("a range that runs backwards");
      }
    }
  }

  // Which of several ways a lazy "*?" would take makes no difference to a whole match.
  void quantify(Atom& atom) {
    if (at_ == text_.size() || std::string_view("*+?").find(text_[at_]) == std::string_view::npos) return;
    if (atom.kind != Atom::Kind::kSet) lacks("a repeated ^ or $");
    const char sign = text_[at_++];
    atom.may_miss = sign != '+';
    atom.may_repeat = sign != '?';
    if (at_ < text_.size() && text_[at_] == '?') ++at_;
    if (at_ < text_.size() && std::string_view("*+?").find(text_[at_]) != std::string_view::npos)
      refuse("a repetition of a repetition");
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<Atom> atoms_;
};

const KernelRegistration kStaticRegexFullMatch{
    "StaticRegexFullMatch", any, [](Bind& b) {
      b.run([pattern = Pattern(b.node().bytes("pattern")), n = b.input("input").shape.elements(),
             in = b.in<std::string>("input"), out = b.out<bool>("output")](Context& c) {
        for (std::int64_t i = 0; i < n; ++i) c[out][i] = pattern.matches(c[in][i]);
      });
    }};

}  // namespace
}  // namespace runnel
