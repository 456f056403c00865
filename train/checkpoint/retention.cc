// Lists by directory, to and from state files.
#include "train/checkpoint/retention.h"

#include <algorithm>
#include <optional>

#include "graph/log.h"
#include "train/checkpoint/checkpoint_files.h"
#include "train/checkpoint/checkpoint_state.h"

namespace runnel {

void Retention::set_rule(KeepRule rule) {
  if (rule.newest < 0)
    throw InvalidArgument(cat("max_to_keep is ", rule.newest, "; 0 keeps all checkpoints"));
  if (!(rule.hours_apart >= 0))  // NaN neither
    throw InvalidArgument(cat("keep_checkpoint_every_n_hours is ", rule.hours_apart,
                              "; give a number of hours, 10000 for none kept besides max_to_keep"));
  rule_ = rule;
}

KeptCheckpoints& Retention::in(const std::string& directory) {
  return kept_.try_emplace(directory, rule_, start_).first->second;
}

std::vector<std::string> Retention::add(FileSystem& files, KeptCheckpoint newest,
                                        const std::string& latest_filename) {
  const std::string prefix = newest.prefix;
  KeptCheckpoints& kept = in(parent_of(prefix));
  KeptCheckpoints next = kept;
  std::vector<std::string> dropped = next.add(std::move(newest));
  UpdateCheckpointStateOptions state{.latest_filename = latest_filename,
                                     .last_preserved_timestamp = next.last_preserved(),
                                     .file_system = &files};
  for (const KeptCheckpoint& one : next.list()) {
    state.all_model_checkpoint_paths.push_back(one.prefix);
    state.all_model_checkpoint_timestamps.push_back(one.time);
  }
  update_checkpoint_state(parent_of(prefix), prefix, std::move(state));
  kept = std::move(next);
  return dropped;
}

void Retention::go_on_from(FileSystem& files, const std::string& prefix) {
  const std::string directory = parent_of(prefix);
  if (kept_.contains(directory)) return;
  std::optional<CheckpointState> state;
  try {
    state = get_checkpoint_state(directory, {.file_system = &files});
  } catch (const DataLoss& error) {
    log_warning(cat("old checkpoints in '", directory, "' are not counted: ", error.message()));
  }
  if (!state) return;
  const auto& paths = state->all_model_checkpoint_paths;
  const auto& times = state->all_model_checkpoint_timestamps;
  const std::string beside = prefix.substr(0, prefix.rfind('/') + 1);  // the directory as it is spelled
  std::vector<KeptCheckpoint> list;
  bool named = false;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (parent_of(paths[i]) != directory || !files.exists(index_path(paths[i]))) continue;
    named |= base_name_of(paths[i]) == base_name_of(prefix);
    const bool dated = times.size() == paths.size();
    list.push_back(
        {beside + base_name_of(paths[i]), dated ? times[i] : files.modified(index_path(paths[i]))});
  }
  if (named) in(directory).recover(std::move(list), state->last_preserved_timestamp);
}

void Retention::take_over(std::span<const KeptCheckpoint> checkpoints) {
  std::map<std::string, std::vector<KeptCheckpoint>> found;
  for (const KeptCheckpoint& one : checkpoints) found[parent_of(one.prefix)].push_back(one);
  for (auto& [directory, list] : found) in(directory).recover(std::move(list), 0);
}

std::vector<std::string> Retention::all() const {
  std::vector<KeptCheckpoint> all;
  for (const auto& [directory, kept] : kept_) all.insert(all.end(), kept.list().begin(), kept.list().end());
  std::ranges::stable_sort(all, {}, &KeptCheckpoint::time);
  std::vector<std::string> prefixes;
  for (KeptCheckpoint& one : all) prefixes.push_back(std::move(one.prefix));
  return prefixes;
}

}  // namespace runnel
