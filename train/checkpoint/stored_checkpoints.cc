// Thin functions over the reader, the state file and the files' names.
#include "train/checkpoint/stored_checkpoints.h"

#include "train/checkpoint/checkpoint_files.h"
#include "train/checkpoint/checkpoint_state.h"

namespace runnel {
namespace {

FileSystem& files_of(FileSystem* given) { return given ? *given : real_file_system(); }

}  // namespace

bool checkpoint_exists(const std::string& prefix, CheckpointReaderOptions options) {
  return checkpoint_exists(files_of(options.file_system), prefix);
}

std::vector<double> get_checkpoint_mtimes(std::span<const std::string> prefixes,
                                          CheckpointReaderOptions options) {
  FileSystem& files = files_of(options.file_system);
  std::vector<double> times;
  for (const std::string& prefix : prefixes)
    if (checkpoint_exists(files, prefix))
      times.push_back(files.modified(files.exists(index_path(prefix)) ? index_path(prefix) : prefix));
  return times;
}

CheckpointReader load_checkpoint(const std::string& directory_or_prefix, CheckpointReaderOptions options) {
  const bool directory = files_of(options.file_system).is_directory(directory_or_prefix);
  return CheckpointReader(directory
                              ? latest_checkpoint(directory_or_prefix, {.file_system = options.file_system})
                              : directory_or_prefix,
                          options);
}

std::vector<VariableInfo> list_variables(const std::string& directory_or_prefix,
                                         CheckpointReaderOptions options) {
  return load_checkpoint(directory_or_prefix, options).variables();
}

Tensor load_variable(const std::string& directory_or_prefix, const std::string& name,
                     CheckpointReaderOptions options) {
  const bool numbered = name.ends_with(":0");
  return load_checkpoint(directory_or_prefix, options)
      .read(numbered ? name.substr(0, name.size() - 2) : name);
}

void remove_checkpoint(const std::string& prefix, RemoveCheckpointOptions options) {
  FileSystem& files = files_of(options.file_system);
  const std::string directory = parent_of(prefix), whole = prefix_of_file(prefix);
  if (!whole.empty() && files.exists(prefix) && !files.exists(index_path(prefix)))
    throw InvalidArgument(cat("'", prefix, "' is one file of a checkpoint: pass '", whole, "'"));
  for (const std::string& path : {cat(prefix, ".", options.meta_graph_suffix), index_path(prefix)})
    if (files.exists(path)) files.remove(path);
  if (!files.is_directory(directory)) return;
  for (const std::string& name : files.list(directory))
    if (is_data_file(name, base_name_of(prefix))) files.remove(join_path(directory, name));
}

}  // namespace runnel
