// What the verbs of `runnel events`, and `runnel inspect`, do. Results go to standard output, as text or,
// with `json`, as JSON; runnel::Error is thrown for what failed.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "summary/summary.h"

namespace runnel {

// What to read, and what of it is wanted.
struct EventSelection {
  std::string path;                    // a log directory or one event file
  std::vector<std::string> runs = {};  // patterns, in which * stands for any characters; none: all
  std::vector<std::string> tags = {};
  EventRunOptions options = {};

  bool has_run(const std::string& name) const;
  bool has_tag(const std::string& name) const;
};

// Read to its end. Throws NotFound, saying what there is instead, if there are no event files.
EventLog read_log(const EventSelection& selection);

// Files with their damage, tags with how many values of which steps.
void list_events(const EventSelection& selection, bool json);
// Every value: as CSV with a head line, or as a JSON list. Throws DataLoss after it if a file is damaged, but
// not for records that were passed over as asked.
void export_events(const EventSelection& selection, bool json);

struct Following {
  double seconds = std::numeric_limits<double>::infinity();  // ends after these
  std::optional<std::int64_t> until_step = std::nullopt;     // ends with the first event shown of it or later
  double interval = 1;                                       // seconds between looks
  bool from_start = false;                                   // what is there already, too
};
// Each event as it comes, a line a value. SIGINT and SIGTERM end it, too, and so does a closed output.
void follow_events(const EventSelection& selection, const Following& following, bool json);

// What is the matter with a log directory, or that nothing is. Throws FailedPrecondition after telling it if
// TensorBoard does not show what was written.
void inspect_log(const std::string& directory, bool json);

}  // namespace runnel
