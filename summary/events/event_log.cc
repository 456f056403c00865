// Walks the directory anew at each reload: runs may appear at any time.
#include "summary/events/event_log.h"

#include <algorithm>

namespace runnel {
namespace {

constexpr std::size_t kDeepest = 100;

bool is_event_file(const std::string& name) {
  return name.find("tfevents") != std::string::npos && !name.ends_with(".profile-empty");
}

struct Walk {
  FileSystem& files;
  std::map<std::string, std::vector<std::string>> found = {};
  std::vector<std::string> inside = {};  // the folders that it is in, by identity: links may go in circles

  void enter(const std::string& directory, const std::string& run) {
    const std::string here = files.identity(directory);
    if (inside.size() == kDeepest || std::count(inside.begin(), inside.end(), here) > 0) return;
    inside.push_back(here);
    for (const std::string& name : files.list(directory)) {
      const std::string path = join_path(directory, name);
      if (files.is_directory(path))
        try_to_enter(path, run.empty() ? name : run + "/" + name);
      else if (is_event_file(name))
        found[run.empty() ? "." : run].push_back(path);
    }
    inside.pop_back();
  }

  // A folder that may not be read, or is gone meanwhile, hides no other.
  void try_to_enter(const std::string& directory, const std::string& run) {
    const std::size_t depth = inside.size();
    try {
      enter(directory, run);
    } catch (const Error&) {
      inside.resize(depth);
    }
  }
};

}  // namespace

std::map<std::string, std::vector<std::string>> event_files(const std::string& directory, FileSystem& files) {
  Walk walk{files};
  if (files.is_directory(directory)) walk.enter(directory, "");
  return std::move(walk.found);
}

void EventLog::reload(const EventAction& action) {
  FileSystem& files = *options_.files;
  std::map<std::string, std::vector<std::string>> found;
  if (files.exists(path_) && !files.is_directory(path_))
    found["."] = {path_};
  else
    found = event_files(path_, files);
  for (const auto& [name, paths] : found) runs_.try_emplace(name, name, options_);
  for (auto& [name, run] : runs_) run.reload(found[name], action);
}

}  // namespace runnel
