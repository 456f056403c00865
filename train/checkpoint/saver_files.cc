// Names, deletion and clean-up.
#include "train/checkpoint/saver_files.h"

#include <cstdio>

#include "graph/log.h"
#include "train/checkpoint/checkpoint_files.h"
#include "train/checkpoint/checkpoint_recovery.h"
#include "train/checkpoint/checkpoint_state.h"
#include "train/checkpoint/stored_checkpoints.h"

namespace runnel {

std::string prefix_of(const std::string& path, std::optional<std::int64_t> step, bool pad) {
  if (path.empty() || path.ends_with('/'))
    throw InvalidArgument(
        cat("'", path, "' is no path to save to: add a file name, as in ", path, "model.ckpt"));
  if (!step) return path;
  char number[32];
  std::snprintf(number, sizeof number, pad ? "%08lld" : "%lld", static_cast<long long>(*step));
  return cat(path, "-", number);
}

void require_state_name(const std::string& name, const std::string& prefix) {
  if (name.empty() || name.find('/') != std::string::npos)
    throw InvalidArgument(
        cat("latest_filename is '", name,
            "': it must be a name without a directory; the state file lies beside the checkpoint"));
  if (name == base_name_of(prefix))
    throw InvalidArgument(cat("'", prefix, "' collides with the state file '", name,
                              "': save to another name, or give a latest_filename"));
}

void delete_checkpoint(FileSystem& files, const std::string& prefix, const std::string& meta_graph_suffix) {
  try {
    remove_checkpoint(prefix, {.meta_graph_suffix = meta_graph_suffix, .file_system = &files});
  } catch (const Error& error) {
    log_warning(cat("the old checkpoint '", prefix, "' is not deleted: ", error.message()));
  }
}

bool state_may_name(FileSystem& files, const std::string& prefix, const std::string& latest_filename) {
  try {
    const auto state = get_checkpoint_state(parent_of(prefix), {latest_filename, &files});
    return state && base_name_of(state->model_checkpoint_path) == base_name_of(prefix);
  } catch (const Error&) {
    return true;
  }
}

void clean_up_killed_saves(FileSystem& files, const std::string& path, const std::string& latest_filename) {
  const std::string directory = parent_of(path);
  if (!files.is_directory(directory)) return;
  clean_up_interrupted_saves(files, directory, base_name_of(path));
  clean_up_interrupted_saves(files, directory, latest_filename);
  remove_parts_of_interrupted_saves(files, path);
}

Undo::Undo(FileSystem& files, std::string prefix, std::string meta)
    : files_(files),
      prefix_(std::move(prefix)),
      meta_(std::move(meta)),
      was_free_(!files.exists(index_path(prefix_))) {}

Undo::~Undo() {
  if (!armed_) return;
  try {
    take_back();
  } catch (...) {
    // What is left is removed by the next save.
  }
}

void Undo::take_back() {
  if (was_free_)
    for (const std::string& path : {meta_, index_path(prefix_)}) remove_quietly(files_, path);
  const std::string directory = parent_of(prefix_);
  if (!files_.is_directory(directory)) return;
  for (const std::string& name : files_.list(directory))
    if (was_free_ && is_data_file(name, base_name_of(prefix_)))
      remove_quietly(files_, join_path(directory, name));
  remove_parts_of_interrupted_saves(files_, prefix_);
}

}  // namespace runnel
