// Finding, reading and replacing the state file, and turning its paths into ones that can be opened.
#include "train/checkpoint/checkpoint_state.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <unordered_set>

#include "graph/log.h"
#include "train/checkpoint/checkpoint_files.h"
#include "train/checkpoint/newest_good.h"

namespace runnel {
namespace {

FileSystem& files_of(FileSystem* given) { return given ? *given : real_file_system(); }

std::string normal(const std::string& path) {
  std::string out = std::filesystem::path(path).lexically_normal().string();
  while (out.size() > 1 && out.back() == '/') out.pop_back();
  return out;
}

// The path from `directory`, by the letters of both; none if one is absolute and the other is not.
std::optional<std::string> relative_to(const std::string& directory, const std::string& path) {
  if (directory.starts_with('/') != path.starts_with('/')) return std::nullopt;
  const std::string out = std::filesystem::path(normal(path)).lexically_relative(normal(directory)).string();
  if (out.empty()) return std::nullopt;
  return out;
}

bool leads_outside(const std::string& relative) { return relative == ".." || relative.starts_with("../"); }

std::string path_to_write(const std::string& directory, const std::string& path) {
  const auto relative = relative_to(directory.empty() ? "." : directory, path);
  if (!relative || (path.starts_with('/') && leads_outside(*relative))) return path;
  return *relative;
}

std::string path_to_open(FileSystem& files, const std::string& directory, const std::string& written) {
  const std::string joined = join_path(directory, written);
  const std::string twin = join_path(directory, base_name_of(written));
  const auto relative = relative_to(directory.empty() ? "." : directory, joined);
  const bool inside = relative && !leads_outside(*relative);
  for (const std::string* path : {inside ? &joined : &twin, &twin, &joined, &written})
    if (checkpoint_exists(files, *path)) return *path;
  return joined;
}

std::string state_path(const std::string& directory, const std::string& latest_filename) {
  if (latest_filename.empty() || latest_filename.find('/') != std::string::npos)
    throw InvalidArgument(
        cat("'", latest_filename, "' is no name of a state file: give one without a directory"));
  return join_path(directory, latest_filename);
}

CheckpointState read_state(FileSystem& files, const std::string& path) {
  if (const std::uint64_t size = files.file_size(path); size > kMostStateBytes)
    throw DataLoss(cat("'", path, "' is no checkpoint state file: it has ", size, " bytes"));
  const std::string text = read_file(files, path);
  try {
    return parse_checkpoint_state(text);
  } catch (const DataLoss& e) {
    throw DataLoss(cat("'", path, "' is no checkpoint state file: ", e.message()));
  }
}

// What there is instead of a state file.
std::string what_else(FileSystem& files, const std::string& directory, const std::string& latest_filename) {
  for (const std::string& name : files.list(directory))
    if (name != latest_filename && name.starts_with(latest_filename + "."))
      if (target_of_temporary(name).empty())
        return cat("; there is '", name, "': rename it to '", latest_filename, "' if it is the one");
  const auto prefixes = prefixes_in(files, directory);
  return prefixes.empty() ? " and no checkpoint either"
                          : cat("; pass one of its checkpoints to restore: ", name_some(prefixes));
}

std::vector<std::string> newest_first(FileSystem& files, const std::string& directory,
                                      const std::string& here) {
  std::vector<std::string> paths;
  for (const std::string& name : prefixes_in(files, here)) paths.push_back(join_path(directory, name));
  std::ranges::reverse(paths);
  return paths;
}

// The kept ones after the newest.
std::vector<std::string> newest_first(const CheckpointState& state) {
  std::vector<std::string> paths{state.model_checkpoint_path};
  std::unordered_set<std::string_view> seen{state.model_checkpoint_path};
  const auto& all = state.all_model_checkpoint_paths;
  for (auto at = all.rbegin(); at != all.rend(); ++at)
    if (seen.insert(*at).second) paths.push_back(*at);
  return paths;
}

bool any_exists(FileSystem& files, const CheckpointState& state) {
  return std::ranges::any_of(newest_first(state),
                             [&](const std::string& path) { return checkpoint_exists(files, path); });
}

std::string names_what_is_gone(FileSystem& files, const std::string& directory, const std::string& path,
                               const CheckpointState& state) {
  const auto prefixes = prefixes_in(files, directory);
  return cat("'", path, "' names '", state.model_checkpoint_path, "', which does not exist; ",
             prefixes.empty() ? "there is no other checkpoint beside it"
                              : cat("beside it there is ", name_some(prefixes)));
}

void require_directory(FileSystem& files, const std::string& directory) {
  if (directory.empty() || files.is_directory(directory)) return;
  if (!files.exists(directory)) throw NotFound(cat("no directory '", directory, "'"));
  throw NotFound(cat("'", directory, "' is a file: pass its directory '", parent_of(directory), "'"));
}

}  // namespace

std::optional<CheckpointState> get_checkpoint_state(const std::string& directory,
                                                    CheckpointStateOptions options) {
  FileSystem& files = files_of(options.file_system);
  const std::string path = state_path(directory, options.latest_filename);
  if (!files.exists(path)) return std::nullopt;
  CheckpointState state = read_state(files, path);
  state.model_checkpoint_path = path_to_open(files, directory, state.model_checkpoint_path);
  for (auto& each : state.all_model_checkpoint_paths) each = path_to_open(files, directory, each);
  return state;
}

std::string latest_checkpoint(const std::string& directory, LatestCheckpointOptions options) {
  FileSystem& files = files_of(options.file_system);
  const std::string here = directory.empty() ? "." : directory;
  require_directory(files, here);
  std::optional<CheckpointState> state;
  std::string why;  // the state file says nothing of use
  try {
    state = get_checkpoint_state(directory, {options.latest_filename, options.file_system});
    if (!state)
      why = cat("no file '", options.latest_filename, "' in '", here, "'",
                what_else(files, here, options.latest_filename));
  } catch (const DataLoss& e) {
    why = e.message();
  }
  if (state) {
    if (options.verify && any_exists(files, *state)) return newest_good(files, newest_first(*state));
    if (checkpoint_exists(files, state->model_checkpoint_path)) return state->model_checkpoint_path;
    why = names_what_is_gone(files, here, state_path(directory, options.latest_filename), *state);
  }
  const std::vector<std::string> found = newest_first(files, directory, here);
  if (!options.verify || found.empty()) throw NotFound(why);
  log_warning(cat(why, "; trying the checkpoints in '", here, "', the newest first"));
  return newest_good(files, found);
}

void update_checkpoint_state(const std::string& directory, const std::string& model_checkpoint_path,
                             UpdateCheckpointStateOptions options) {
  FileSystem& files = files_of(options.file_system);
  const std::string path = state_path(directory, options.latest_filename);
  if (model_checkpoint_path.empty()) throw InvalidArgument("a state file cannot name a checkpoint ''");
  if (normal(path) == normal(model_checkpoint_path))
    throw InvalidArgument(cat("a checkpoint cannot be called '", path, "' as the state file is"));
  auto& all = options.all_model_checkpoint_paths;
  auto& times = options.all_model_checkpoint_timestamps;
  if (all.empty() || all.back() != model_checkpoint_path) all.push_back(model_checkpoint_path);
  if (!times.empty() && times.size() != all.size())
    throw InvalidArgument(cat(times.size(), " timestamps were given for ", all.size(), " checkpoints"));
  CheckpointState state{.model_checkpoint_path = path_to_write(directory, model_checkpoint_path),
                        .all_model_checkpoint_paths = {},
                        .all_model_checkpoint_timestamps = std::move(times),
                        .last_preserved_timestamp = options.last_preserved_timestamp};
  for (const auto& each : all) state.all_model_checkpoint_paths.push_back(path_to_write(directory, each));
  write_file_atomically(files, path, text_of(state));
}

}  // namespace runnel
