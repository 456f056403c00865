// The newest of some checkpoints that can be read to its last byte, for a start after a crash.
#pragma once

#include <string>
#include <vector>

#include "graph/io/file_system.h"

namespace runnel {

// Reads each of `prefixes`, the newest first, until one is whole: its index and every value's checksum. Each
// that is missing or damaged is skipped with a line in the log that says why. Throws DataLoss with the
// reasons if none is whole, NotFound if all are missing; what else a file system may say - PermissionDenied,
// say - is thrown as it is.
std::string newest_good(FileSystem& files, const std::vector<std::string>& prefixes);

}  // namespace runnel
