// Damaged copies of bytes, the same ones for the same seed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

// SplitMix64: small, and the same numbers everywhere.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed) {}
  std::uint64_t roll() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  std::size_t below(std::size_t n) { return n == 0 ? 0 : roll() % n; }
  bool one_in(std::size_t n) { return below(n) == 0; }

 private:
  std::uint64_t state_;
};

// One to four edits: a bit turned, a byte set to a value that parsers mind, bytes removed, doubled, inserted
// or cut.
inline std::string mutated(std::string bytes, Dice& dice) {
  static const char kMinded[] = {'\0', '\1', '\x7f', '\x80', '\xff', '"', '\\', '{', '\n', '-', '9'};
  for (std::size_t edits = 1 + dice.below(4); edits > 0; --edits) {
    const std::size_t at = dice.below(bytes.size() + 1), few = 1 + dice.below(12);
    switch (dice.below(6)) {
      case 0:
        if (at < bytes.size()) bytes[at] = static_cast<char>(bytes[at] ^ (1 << dice.below(8)));
        break;
      case 1:
        if (at < bytes.size()) bytes[at] = kMinded[dice.below(sizeof kMinded)];
        break;
      case 2: bytes.erase(at, few); break;
      case 3: bytes.insert(at, bytes.substr(dice.below(bytes.size() + 1), few)); break;
      case 4: bytes.insert(at, few, kMinded[dice.below(sizeof kMinded)]); break;
      default:
        if (dice.one_in(4)) bytes.resize(at);
    }
  }
  return bytes;
}
