// The folders of a model's exports: one below a base for each, called by the time in seconds, of which the
// newest few are kept. Source: tf.estimator's exporters (behaviours 22.5).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/clock.h"
#include "graph/io/file_system.h"

namespace runnel {

// BASE/SECONDS of now, or of the first second after it that has no folder. Makes the base; the folder itself
// is not made.
std::string new_export_folder(FileSystem& files, Clock& clock, const std::string& base);

// Those there are, the oldest first. None if the base is missing.
std::vector<std::string> export_folders(FileSystem& files, const std::string& base);

// Removes one, or the oldest until `keep` are left. What cannot be removed is warned of.
void remove_export(FileSystem& files, const std::string& folder);
void remove_old_exports(FileSystem& files, const std::string& base, std::int64_t keep);

}  // namespace runnel
