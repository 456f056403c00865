// Which runs and tags are wanted, and reading them.
#include <algorithm>

#include "graph/graph.h"
#include "train/cli/event_jobs.h"

namespace runnel {
namespace {

// As the pattern says, where * stands for any characters.
bool matches(std::string_view pattern, std::string_view text) {
  std::size_t p = 0, t = 0, star = std::string_view::npos, after = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      after = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p, ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;  // the star takes one character more
      t = ++after;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

bool any_matches(const std::vector<std::string>& patterns, const std::string& text) {
  return patterns.empty() || std::any_of(patterns.begin(), patterns.end(),
                                         [&](const std::string& pattern) { return matches(pattern, text); });
}

}  // namespace

bool EventSelection::has_run(const std::string& name) const { return any_matches(runs, name); }
bool EventSelection::has_tag(const std::string& name) const { return any_matches(tags, name); }

EventLog read_log(const EventSelection& selection) {
  if (!real_file_system().exists(selection.path))
    throw NotFound(
        cat("there is no '", selection.path, "'; give the directory that the events were written to"));
  EventLog log(selection.path, selection.options);
  log.reload();
  if (log.runs().empty())
    throw NotFound(cat("no file below '", selection.path,
                       "' is called as event files are, with \"tfevents\" in the name; `runnel inspect` "
                       "tells what is there"));
  return log;
}

}  // namespace runnel
