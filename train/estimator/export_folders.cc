// See export_folders.h.
#include "train/estimator/export_folders.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "graph/error.h"
#include "graph/log.h"

namespace runnel {
namespace {

std::optional<std::int64_t> number_of(const std::string& name) {
  std::int64_t number = 0;
  const char* const end = name.data() + name.size();
  const auto read = std::from_chars(name.data(), end, number);
  if (name.empty() || read.ec != std::errc{} || read.ptr != end || number < 0) return {};
  return number;
}

}  // namespace

std::string new_export_folder(FileSystem& files, Clock& clock, const std::string& base) {
  make_directories(files, base);
  for (auto seconds = static_cast<std::int64_t>(clock.now());; ++seconds) {
    const std::string folder = join_path(base, std::to_string(seconds));
    if (!files.exists(folder)) return folder;
  }
}

std::vector<std::string> export_folders(FileSystem& files, const std::string& base) {
  std::vector<std::pair<std::int64_t, std::string>> found;
  if (!files.is_directory(base)) return {};
  for (const std::string& name : files.list(base))
    if (const auto number = number_of(name)) found.emplace_back(*number, join_path(base, name));
  std::sort(found.begin(), found.end());
  std::vector<std::string> folders;
  for (auto& [number, folder] : found) folders.push_back(std::move(folder));
  return folders;
}

void remove_old_exports(FileSystem& files, const std::string& base, std::int64_t keep) {
  const std::vector<std::string> folders = export_folders(files, base);
  for (std::size_t i = 0; i + static_cast<std::size_t>(std::max<std::int64_t>(0, keep)) < folders.size(); ++i)
    remove_export(files, folders[i]);
}

void remove_export(FileSystem& files, const std::string& folder) {
  try {
    for (const std::string& name : files.list(folder)) files.remove(join_path(folder, name));
    files.remove_directory(folder);
  } catch (const Error& error) {
    log_warning(cat("The export ", folder, " could not be removed: ", error.message()));
  }
}

}  // namespace runnel
