// What is the matter with a log directory: why TensorBoard shows nothing, less than was written, or a mess.
// The events are read as TensorBoard's older reader reads them, which minds restarts; the checkpoints beside
// them are looked at, but not read whole.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace runnel {

// The worst last.
enum class LogVerdict {
  kFine,
  kTruncated,
  kVersionOnly,
  kStepsBack,
  kTwoWriters,
  kBadCheckpoint,
  kDamaged,
  kNoEventFiles,
  kEmpty,
};
// "truncated tail"
const char* name_of(LogVerdict verdict);

struct LogFinding {
  LogVerdict verdict;
  std::string run;   // empty if it is of the whole directory
  std::string text;  // what, where, what to do
  std::string path = "";
  std::optional<std::uint64_t> offset = std::nullopt;
};

struct FoundCheckpoint {
  std::string directory;
  std::string prefix = "";  // the newest's; empty if it cannot be told
  std::size_t tensors = 0;
  std::size_t kept = 0;  // as many are in the directory
};

struct LogInspection {
  std::string directory;
  std::size_t runs = 0, files = 0, tags = 0;
  std::uint64_t values = 0;
  std::vector<LogFinding> findings = {};
  std::vector<FoundCheckpoint> checkpoints = {};

  LogVerdict verdict() const;  // the worst
  // What shows it, to be given to a shell.
  std::string tensorboard_command() const;
};

// Throws NotFound if there is no such directory, InvalidArgument for a file.
LogInspection inspected(const std::string& directory);

}  // namespace runnel
