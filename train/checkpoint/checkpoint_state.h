// The text file `checkpoint` beside a run's checkpoints: which is the newest and which are kept. Paths that
// lie in the file's directory are written relative to it, so that the directory can be moved, and a
// checkpoint in the directory is preferred to one of the same name elsewhere. Source: TensorFlow's
// CheckpointState (README.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/io/file_system.h"

namespace runnel {

struct CheckpointState {
  std::string model_checkpoint_path;                         // the newest
  std::vector<std::string> all_model_checkpoint_paths = {};  // the kept ones, oldest first, the newest last
  std::vector<double> all_model_checkpoint_timestamps = {};  // one each, or none; seconds since 1970
  double last_preserved_timestamp = 0;                       // when one was last kept for ever; 0 if unknown
  bool operator==(const CheckpointState&) const = default;
};

// Of a state file; a real one takes a line or two a checkpoint.
inline constexpr std::uint64_t kMostStateBytes = 64 << 20;

// The file's text, byte for byte as TensorFlow writes it.
std::string text_of(const CheckpointState& state);
// Reads what TensorFlow reads: escapes, comments, single quotes, joined strings, any order. Throws DataLoss
// with line and column, or if there is no model_checkpoint_path.
CheckpointState parse_checkpoint_state(std::string_view text);

struct CheckpointStateOptions {
  std::string latest_filename = "checkpoint";
  FileSystem* file_system = nullptr;  // borrowed; none means the machine's files
};

// The state with paths that can be opened: an entry is looked for in the directory as written, then by its
// last name in the directory, then outside of it, then from the working directory; one that is nowhere is
// joined to the directory. Nothing if there is no such file; DataLoss if it cannot be understood.
std::optional<CheckpointState> get_checkpoint_state(const std::string& directory,
                                                    CheckpointStateOptions options = {});

struct LatestCheckpointOptions {
  std::string latest_filename = "checkpoint";
  // Reads the checkpoint whole. One that is damaged or half-written is skipped with a line in the log, for
  // the next older one that the state file names; a state file that is damaged, gone, or names none that is
  // there, for what there is in the directory, the newest first. DataLoss with all reasons if nothing is
  // whole, so that a damaged run is not taken for a fresh one.
  bool verify = false;
  FileSystem* file_system = nullptr;  // borrowed; none means the machine's files
};

// The newest checkpoint's prefix. Throws NotFound, saying which: no directory, no state file (and what there
// is instead), a state file that cannot be understood, or one that names a checkpoint that is gone.
std::string latest_checkpoint(const std::string& directory, LatestCheckpointOptions options = {});

struct UpdateCheckpointStateOptions {
  std::vector<std::string> all_model_checkpoint_paths = {};  // the newest is appended if it is not last
  std::string latest_filename = "checkpoint";
  std::vector<double> all_model_checkpoint_timestamps = {};
  double last_preserved_timestamp = 0;
  FileSystem* file_system = nullptr;
};

// Replaces the state file in one piece; durable when it returns. Throws InvalidArgument if a checkpoint is
// called as the state file is, or if the numbers of paths and timestamps differ.
void update_checkpoint_state(const std::string& directory, const std::string& model_checkpoint_path,
                             UpdateCheckpointStateOptions options = {});

}  // namespace runnel
