// Trying one after the other.
#include "train/checkpoint/newest_good.h"

#include "graph/log.h"
#include "train/checkpoint/checkpoint_files.h"
#include "train/checkpoint/checkpoint_reader.h"

namespace runnel {
namespace {

// Errors that are about this checkpoint: damage, missing files, other files of its names, a disk that does
// not give them.
bool is_damage(Code code) {
  return code == Code::kDataLoss || code == Code::kNotFound || code == Code::kInvalidArgument ||
         code == Code::kUnknown;
}

}  // namespace

std::string newest_good(FileSystem& files, const std::vector<std::string>& prefixes) {
  std::string reasons;
  bool damaged = false;
  for (const std::string& prefix : prefixes) {
    try {
      CheckpointReader(prefix, {.file_system = &files}).verify();
      return prefix;
    } catch (const Error& error) {
      if (!is_damage(error.code())) throw;
      damaged = damaged || checkpoint_exists(files, prefix);
      log_warning(cat("checkpoint '", prefix, "' is skipped: ", error.message()));
      reasons += cat(reasons.empty() ? "" : "; ", "'", prefix, "': ", error.message());
    }
  }
  throw_error(damaged ? Code::kDataLoss : Code::kNotFound, cat("no checkpoint is whole: ", reasons));
}

}  // namespace runnel
