// After a '*' has taken too little, it takes one character more; only the last '*' need be tried again, since
// an earlier one that takes more can only make later ones match less.
#include "kernels/reader/file_pattern.h"

#include <algorithm>

#include "graph/error.h"

namespace runnel {
namespace {

constexpr std::string_view kSpecial = "*?[\\";

// The pattern behind the element at `at`, which matches `c`; npos if it does not.
std::size_t past_match(std::string_view pattern, std::size_t at, char c) {
  if (pattern[at] == '?') return at + 1;
  if (pattern[at] == '\\' && at + 1 < pattern.size())
    return pattern[at + 1] == c ? at + 2 : std::string::npos;
  if (pattern[at] != '[') return pattern[at] == c ? at + 1 : std::string::npos;
  const bool negated = at + 1 < pattern.size() && (pattern[at + 1] == '^' || pattern[at + 1] == '!');
  bool found = false;
  std::size_t i = at + 1 + (negated ? 1 : 0);
  for (bool first = true; i < pattern.size() && (first || pattern[i] != ']'); first = false) {
    if (pattern[i] == '\\' && i + 1 < pattern.size()) ++i;
    const char low = pattern[i];
    char high = low;
    if (i + 2 < pattern.size() && pattern[i + 1] == '-' && pattern[i + 2] != ']') high = pattern[i += 2];
    found = found || (low <= c && c <= high);
    ++i;
  }
  if (i >= pattern.size()) return c == '[' ? at + 1 : std::string::npos;  // no set: it does not close
  return found != negated ? i + 1 : std::string::npos;
}

bool is_plain(std::string_view pattern) { return pattern.find_first_of(kSpecial) == std::string_view::npos; }

// `done` is a path that exists, or nothing at the start; `rest` the pattern of what follows.
void search(FileSystem& files, const std::string& done, std::string_view rest,
            std::vector<std::string>& found) {
  const std::size_t first = std::min(rest.find_first_not_of('/'), rest.size());
  if (first > 0) return search(files, done + std::string(first, '/'), rest.substr(first), found);
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  const std::string_view part = rest.substr(0, slash);
  const auto go_on = [&](const std::string& path) {
    if (slash == rest.size()) {
      if (files.exists(path)) found.push_back(path);
    } else if (files.is_directory(path)) {
      search(files, path + "/", rest.substr(slash + 1), found);
    }
  };
  if (part.empty()) return;
  if (is_plain(part)) return go_on(done + std::string(part));
  std::vector<std::string> names;
  const std::string folder = done.empty() ? "./" : done;  // names of it begin so, as TensorFlow's do
  try {
    names = files.list(folder);
  } catch (const Error&) {
    return;
  }
  for (const std::string& name : names)
    if (matches_pattern(name, part)) go_on(folder + name);
}

}  // namespace

bool matches_pattern(std::string_view name, std::string_view pattern) {
  std::size_t at = 0, in_pattern = 0, retry = std::string::npos, retry_pattern = 0;
  while (at < name.size()) {
    if (in_pattern < pattern.size() && pattern[in_pattern] == '*') {
      retry = at;
      retry_pattern = ++in_pattern;
      continue;
    }
    const std::size_t next =
        in_pattern < pattern.size() ? past_match(pattern, in_pattern, name[at]) : std::string::npos;
    if (next != std::string::npos) {
      in_pattern = next;
      ++at;
    } else if (retry != std::string::npos) {
      at = ++retry;
      in_pattern = retry_pattern;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', in_pattern) == std::string_view::npos;
}

void add_matching_files(FileSystem& files, const std::string& pattern, std::vector<std::string>& found) {
  if (is_plain(pattern)) {
    if (files.exists(pattern)) found.push_back(pattern);
    return;
  }
  search(files, "", pattern, found);
}

}  // namespace runnel
