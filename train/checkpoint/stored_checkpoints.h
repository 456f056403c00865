// Checkpoints as they lie on disk, by their prefix or by the directory of a run: whether they are there, what
// is in them, taking them away. Names and meaning are those of tf.train (behaviours 9), but that prefixes are
// literal and never patterns.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "graph/io/file_system.h"
#include "graph/tensor.h"
#include "graph/variable_info.h"
#include "train/checkpoint/checkpoint_reader.h"

namespace runnel {

// True if there is PREFIX.index, or a V1 checkpoint of that name.
bool checkpoint_exists(const std::string& prefix, CheckpointReaderOptions options = {});

// When those that exist were written, in seconds since 1970.
std::vector<double> get_checkpoint_mtimes(std::span<const std::string> prefixes,
                                          CheckpointReaderOptions options = {});

// A reader of the checkpoint, or of a directory's latest one. Throws what latest_checkpoint and
// CheckpointReader throw.
CheckpointReader load_checkpoint(const std::string& directory_or_prefix,
                                 CheckpointReaderOptions options = {});

// What it holds, sorted by name.
std::vector<VariableInfo> list_variables(const std::string& directory_or_prefix,
                                         CheckpointReaderOptions options = {});

// One value; "w:0" is "w". Throws NotFound too.
Tensor load_variable(const std::string& directory_or_prefix, const std::string& name,
                     CheckpointReaderOptions options = {});

struct RemoveCheckpointOptions {
  std::string meta_graph_suffix = "meta";
  FileSystem* file_system = nullptr;  // borrowed; none means the machine's files
};

// Removes the graph, then the index, then the data: what a killed process leaves is a checkpoint, or data
// that the next save there removes. Those that are not there are passed over; the state file is left as it
// is. Throws InvalidArgument for the name of one of a checkpoint's files.
void remove_checkpoint(const std::string& prefix, RemoveCheckpointOptions options = {});

}  // namespace runnel
