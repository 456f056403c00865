// The events of a directory as lines that a test can compare: "START 1", "graph", "loss 3".
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "graph/error.h"
#include "summary/events/event_reader.h"

namespace runnel {

inline std::string event_line(const Event& event) {
  switch (event.kind) {
    case EventKind::kVersion: return "version";
    case EventKind::kGraph: return "graph";
    case EventKind::kMetaGraph: return "meta graph";
    case EventKind::kSummary:
    case EventKind::kRunMetadata: {
      std::string line;
      for (const EventValue& value : event.values) line += value.tag + " ";
      return cat(line, event.at.step);
    }
    case EventKind::kSessionLog:
      return cat(event.session_status == static_cast<int>(SessionStatus::kStart) ? "START " : "CHECKPOINT ",
                 event.at.step);
    case EventKind::kOther: break;
  }
  return "other";
}

// In the order of the files' names and of the events in each.
inline std::vector<std::string> event_lines(const std::string& directory) {
  std::set<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(directory))
    if (entry.path().filename().string().find("tfevents") != std::string::npos) files.insert(entry.path());
  std::vector<std::string> lines;
  for (const std::string& file : files)
    for (const Event& event : EventReader(file)) lines.push_back(event_line(event));
  return lines;
}

}  // namespace runnel
