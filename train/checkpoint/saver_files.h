// The files of a Saver's saves: what a prefix is called, deleting old ones, and taking back what a save that
// failed has written.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "graph/io/file_system.h"

namespace runnel {

// "PATH-7", "PATH-00000007" or PATH. Throws InvalidArgument for a path without a name.
std::string prefix_of(const std::string& path, std::optional<std::int64_t> step, bool pad);

// Throws InvalidArgument for a state file or a graph that would not lie beside the checkpoint, or would take
// the place of one of its files.
void require_names(const std::string& prefix, const std::string& latest_filename,
                   const std::string& meta_graph_suffix);

// What cannot be deleted is warned of.
void delete_checkpoint(FileSystem& files, const std::string& prefix, const std::string& meta_graph_suffix);

// Finishes or removes what killed saves to PATH and PATH-STEP left, and the state file's temporaries.
void clean_up_killed_saves(FileSystem& files, const std::string& path, const std::string& latest_filename);

// Whether the state file names the checkpoint as the newest, after a failure to write it: it may be in place
// and only the sync of its directory have failed.
bool state_may_name(FileSystem& files, const std::string& prefix, const std::string& latest_filename);

// Removes what a save has written, unless it comes to its end: the parts of a sharded one, and, if the prefix
// was free, the checkpoint.
class Undo {
 public:
  Undo(FileSystem& files, std::string prefix, std::string meta);
  ~Undo();
  Undo(const Undo&) = delete;
  Undo& operator=(const Undo&) = delete;
  void keep() { armed_ = false; }

 private:
  void take_back();
  FileSystem& files_;
  const std::string prefix_, meta_;
  const bool was_free_;
  bool armed_ = true;
};

}  // namespace runnel
