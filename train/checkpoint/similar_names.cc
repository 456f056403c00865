// Levenshtein's distance by rows, given up once it is too large.
#include "train/checkpoint/similar_names.h"

#include <algorithm>
#include <cctype>
#include <numeric>

namespace runnel {
namespace {

constexpr std::size_t kLongest = 100;
constexpr std::size_t kCompared = 1000;
constexpr std::size_t kShown = 2;

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

// Letters to add, drop or change to make one of the other; `most` + 1 if there are more than `most`.
std::size_t edits(const std::string& a, const std::string& b, std::size_t most) {
  if (std::max(a.size(), b.size()) - std::min(a.size(), b.size()) > most) return most + 1;
  std::vector<std::size_t> row(b.size() + 1);  // of the distances between a's start and each start of b
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t k = 1; k <= b.size(); ++k) {
      const std::size_t changed = diagonal + (a[i - 1] == b[k - 1] ? 0 : 1);
      diagonal = row[k];
      row[k] = std::min({changed, row[k] + 1, row[k - 1] + 1});
    }
    if (*std::ranges::min_element(row) > most) return most + 1;
  }
  return std::min(row.back(), most + 1);
}

bool same_in_other_scope(const std::string& a, const std::string& b) {
  return a.ends_with("/" + b) || b.ends_with("/" + a);
}

}  // namespace

std::vector<std::string> similar_names(const std::string& wanted, const std::vector<std::string>& among) {
  if (wanted.size() > kLongest) return {};
  const std::string own = lower(wanted);
  const std::size_t most = std::max<std::size_t>(1, wanted.size() / 4);
  std::vector<std::pair<std::size_t, std::string>> found;
  for (std::size_t i = 0; i < std::min(among.size(), kCompared); ++i) {
    const std::string& name = among[i];
    if (name.size() > kLongest) continue;
    const std::string other = lower(name);
    const std::size_t distance = same_in_other_scope(own, other) ? 1 : edits(own, other, most);
    if (distance <= most) found.emplace_back(distance, name);
  }
  std::ranges::sort(found);
  std::vector<std::string> names;
  for (auto& [distance, name] : found)
    if (names.size() < kShown) names.push_back(std::move(name));
  return names;
}

}  // namespace runnel
