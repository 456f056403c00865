// Finding, finishing and removing what killed saves left.
#include "train/checkpoint/checkpoint_recovery.h"

#include <algorithm>
#include <optional>
#include <string_view>
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

// The number of data files that the index speaks of, if it fits them.
std::optional<int> fitting_shards(FileSystem& files, const std::string& prefix, const std::string& index) {
  try {
    const Bundle bundle(files, prefix, index);
    bundle.verify();
    return bundle.shards();
  } catch (const Error& e) {
    if (e.code() == Code::kDataLoss || e.code() == Code::kNotFound) return {};
    throw;
  }
}

bool fits(FileSystem& files, const std::string& prefix, const std::string& index) {
  return fitting_shards(files, prefix, index).has_value();
}

// A first save that was stopped between its renames has data without an index.
void remove_data_without_index(FileSystem& files, const std::string& prefix) {
  const std::string directory = parent_of(prefix);
  for (const std::string& name : files.list(directory))
    if (is_data_file(name, base_name_of(prefix))) files.remove(join_path(directory, name));
}

// A first save that lost power may have stored the new name of its index alone.
void remove_index_without_data(FileSystem& files, const std::string& prefix) {
  const auto names = files.list(parent_of(prefix));
  if (files.exists(index_path(prefix)) && std::ranges::none_of(names, [&](const std::string& name) {
        return is_data_file(name, base_name_of(prefix));
      }))
    files.remove(index_path(prefix));
}

// A merge that was stopped has moved data files beside those of an older checkpoint, under another number of
// files.
void remove_data_of_others(FileSystem& files, const std::string& prefix, int shards) {
  const std::string directory = parent_of(prefix), base = base_name_of(prefix);
  for (const std::string& name : files.list(directory))
    if (is_data_file(name, base) && !is_data_file(name, base, shards))
      files.remove(join_path(directory, name));
}

// "part-00001-of-00002" of the name of one of its files, or of a temporary of one.
bool is_file_of_part(const std::string& name) {
  const std::string target = target_of_temporary(name);
  const std::string part = prefix_of_file(target.empty() ? name : base_name_of(target));
  return part.starts_with("part-") && part.find("-of-") == 10 && part.size() == 19;
}

// True for "STEM_temp" and "STEM-7_temp", and with the number that TensorFlow 1 put behind.
bool is_folder_of_parts(std::string_view name, std::string_view stem) {
  const auto skip = [&](std::string_view characters) {
    name.remove_prefix(std::min(name.find_first_not_of(characters), name.size()));
  };
  if (!name.starts_with(stem)) return false;
  name.remove_prefix(stem.size());
  if (name.starts_with('-')) skip("-0123456789");
  if (!name.starts_with("_temp")) return false;
  name.remove_prefix(5);
  if (name.starts_with('_')) skip("_0123456789abcdef");
  return name.empty();
}

// True if the temporary index took its place.
bool finish(FileSystem& files, const std::string& temporary, const std::string& prefix) {
  const std::string index = index_path(prefix);
  if (!files.exists(index)) {
    remove_data_without_index(files, prefix);
    return false;
  }
  if (const auto shards = fitting_shards(files, prefix, index)) {
    remove_data_of_others(files, prefix, *shards);
    return false;
  }
  if (!fits(files, prefix, temporary)) return false;
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
  std::vector<std::string> left;
  bool changed = false;
  for (const std::string& path : temporaries(files, directory, stem)) {
    if (is_own_temporary(path)) continue;
    const std::string target = target_of_temporary(path);
    const std::string prefix = prefix_of_file(target);
    const bool finished = target.ends_with(".index") && !prefix.empty() && finish(files, path, prefix);
    if (!prefix.empty()) remove_index_without_data(files, prefix);
    if (!finished) left.push_back(path);
    changed = true;
  }
  if (!changed) return;
  files.sync_directory(
      directory);  // they tell what else there is to remove: they go once that is gone for good
  for (const std::string& path : left) files.remove(path);
  if (!left.empty()) files.sync_directory(directory);
}

void remove_parts_of_interrupted_saves(FileSystem& files, const std::string& path) {
  const std::string directory = parent_of(path);
  for (const std::string& name : files.list(directory)) {
    const std::string folder = join_path(directory, name);
    if (!is_folder_of_parts(name, base_name_of(path)) || !files.is_directory(folder)) continue;
    const std::vector<std::string> parts = files.list(folder);
    if (!std::ranges::all_of(parts, is_file_of_part)) continue;
    const std::string prefix = join_path(directory, name.substr(0, name.rfind("_temp")));
    if (!files.exists(index_path(prefix)))
      remove_data_without_index(files, prefix);
    else if (const auto shards = fitting_shards(files, prefix, index_path(prefix)))
      remove_data_of_others(files, prefix, *shards);
    files.sync_directory(directory);
    for (const std::string& part : parts) files.remove(join_path(folder, part));
    files.remove_directory(folder);
  }
}

}  // namespace runnel
