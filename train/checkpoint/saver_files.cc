// Names, deletion and clean-up.
#include "train/checkpoint/saver_files.h"

#include <cstdio>

#include "graph/log.h"
#include "train/checkpoint/checkpoint_files.h"
#include "train/checkpoint/checkpoint_recovery.h"
#include "train/checkpoint/checkpoint_state.h"
#include "train/checkpoint/stored_checkpoints.h"

namespace runnel {
namespace {

bool is_name(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos;
}

// Files of checkpoints and their temporaries are called so.
bool is_taken(const std::string& name) {
  return !prefix_of_file(name).empty() || !target_of_temporary(name).empty();
}

}  // namespace

std::string prefix_of(const std::string& path, std::optional<std::int64_t> step, bool pad) {
  require_prefix(path);
  if (!step) return path;
  char number[32];
  std::snprintf(number, sizeof number, pad ? "%08lld" : "%lld", static_cast<long long>(*step));
  return cat(path, "-", number);
}

void require_names(const std::string& prefix, const std::string& latest_filename,
                   const std::string& meta_graph_suffix) {
  if (!is_name(latest_filename))
    throw InvalidArgument(
        cat("latest_filename is '", latest_filename,
            "': it must be a name without a directory; the state file lies beside the checkpoint"));
  if (latest_filename == base_name_of(prefix))
    throw InvalidArgument(cat("'", prefix, "' collides with the state file '", latest_filename,
                              "': save to another name, or give a latest_filename"));
  if (is_taken(latest_filename))
    throw InvalidArgument(cat("latest_filename is '", latest_filename,
                              "', as a checkpoint's own files are called; give another name"));
  const std::string meta = cat(base_name_of(prefix), ".", meta_graph_suffix);
  if (!is_name(meta) || meta == latest_filename || (meta_graph_suffix != "meta" && is_taken(meta)))
    throw InvalidArgument(
        cat("meta_graph_suffix is '", meta_graph_suffix, "': no graph can be called '", meta, "'"));
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
    if (files.is_directory(join_path(parent_of(prefix), latest_filename))) return false;
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
