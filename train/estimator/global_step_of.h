// The step that a checkpoint was saved at, without a graph or a session.
#pragma once

#include <cstdint>
#include <string>

#include "graph/io/file_system.h"

namespace runnel {

// The value of `global_step` in the checkpoint; 0 for the prefix "", and for a checkpoint without one. Throws
// InvalidArgument if it is no integer scalar, and what CheckpointReader throws.
std::int64_t global_step_of(const std::string& prefix, FileSystem& files);

}  // namespace runnel
