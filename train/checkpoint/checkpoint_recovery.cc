// Finding, finishing and removing what killed saves left.
#include "train/checkpoint/checkpoint_recovery.h"

#include <algorithm>
#include <vector>

#include "train/checkpoint/bundle.h"
#include "train/checkpoint/checkpoint_files.h"

namespace runnel {
namespace {

// Paths of the temporaries in `directory` whose target's name begins with `stem`.
std::vector<std::string> temporaries(FileSystem& files, const std::string& directory,
                                     const std::string& stem) {
  std::vector<std::string> found;
  for (const std::string& name : files.list(directory)) {
    const std::string target = target_of_temporary(name);
    if (!target.empty() && target.starts_with(stem)) found.push_back(join_path(directory, name));
  }
  return found;
}

bool fits(FileSystem& files, const std::string& prefix, const std::string& index) {
  try {
    Bundle(files, prefix, index).verify();
    return true;
  } catch (const Error& e) {
    if (e.code() == Code::kDataLoss || e.code() == Code::kNotFound) return false;
    throw;
  }
}

// A first save that was stopped between its renames has data without an index.
void remove_data_without_index(FileSystem& files, const std::string& prefix) {
  const std::string directory = parent_of(prefix);
  for (const std::string& name : files.list(directory))
    if (is_data_file(name, base_name_of(prefix))) files.remove(join_path(directory, name));
}

// True if the temporary index took its place.
bool finish(FileSystem& files, const std::string& temporary, const std::string& prefix) {
  const std::string index = index_path(prefix);
  if (!files.exists(index)) {
    remove_data_without_index(files, prefix);
    return false;
  }
  if (fits(files, prefix, index) || !fits(files, prefix, temporary)) return false;
  files.rename(temporary, index);
  return true;
}

}  // namespace

std::string valid_index(FileSystem& files, const std::string& prefix) {
  const std::string index = index_path(prefix);
  std::vector<std::string> left;
  try {
    left = temporaries(files, parent_of(prefix), base_name_of(index));
  } catch (const PermissionDenied&) {
    return index;  // a directory whose files may be read but not listed
  }
  std::erase_if(
      left, [&](const auto& path) { return base_name_of(target_of_temporary(path)) != base_name_of(index); });
  if (left.empty() || fits(files, prefix, index)) return index;
  const auto it = std::ranges::find_if(left, [&](const auto& path) { return fits(files, prefix, path); });
  return it == left.end() ? index : *it;
}

void clean_up_interrupted_saves(FileSystem& files, const std::string& directory, const std::string& stem) {
  bool changed = false;
  for (const std::string& path : temporaries(files, directory, stem)) {
    if (is_own_temporary(path)) continue;
    const std::string target = target_of_temporary(path);
    const std::string prefix = target.ends_with(".index") ? prefix_of_file(target) : "";
    if (prefix.empty() || !finish(files, path, prefix)) files.remove(path);
    changed = true;
  }
  if (changed) files.sync_directory(directory);
}

}  // namespace runnel
