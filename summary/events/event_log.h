// A log directory as TensorBoard sees it: every folder in it with event files is a run, called by its path
// below the directory ("." for the directory itself). Source: TensorBoard's data server.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "summary/events/event_run.h"

namespace runnel {

// The event files below `directory`, by run, in the order of their names: those with "tfevents" in the name,
// but for ".profile-empty" at its end. Links are followed. Nothing if there is no such directory.
std::map<std::string, std::vector<std::string>> event_files(const std::string& directory,
                                                            FileSystem& files = real_file_system());

// For one thread at a time.
class EventLog {
 public:
  // A directory, which need not be there yet, or one event file.
  explicit EventLog(std::string path, EventRunOptions options = {})
      : path_(std::move(path)), options_(options) {}

  // Finds runs and files and reads what is new, file by file; may be called again and again to follow what
  // is being written. `action` gets every new event.
  void reload(const EventAction& action = {});

  const std::map<std::string, EventRun>& runs() const { return runs_; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  EventRunOptions options_;
  std::map<std::string, EventRun> runs_;
};

}  // namespace runnel
