// Serialized Event messages: one is the payload of one record of an event file. Strings, since protobuf does
// not show in headers. Source: formats 2.3 and 8.1.
#pragma once

#include <cstdint>
#include <set>
#include <string>

namespace runnel {

// What a session log says: where training began, ended, or saved.
enum class SessionStatus { kStart = 1, kStop = 2, kCheckpoint = 3 };

// When and at which step something happened.
struct EventTime {
  double wall = 0;  // seconds since 1970
  std::int64_t step = 0;
};

// The first record of a file: the version, as TensorFlow 1 writes it.
std::string version_event(double wall);
std::string session_log_event(EventTime at, SessionStatus status, const std::string& checkpoint_path = "",
                              const std::string& message = "");
std::string graph_def_event(EventTime at, std::string graph_def);
std::string meta_graph_def_event(EventTime at, std::string meta_graph_def);

// An event on its way to the file.
struct PendingEvent {
  std::string bytes;
  bool has_metadata = false;  // a value in it says how it is to be shown, which a file needs once a tag only
};

// Throws InvalidArgument if `summary` is no Summary message.
PendingEvent summary_event(EventTime at, const std::string& summary);
// The event as it is. Throws InvalidArgument if it is no Event message.
PendingEvent checked_event(std::string event);

// The event without metadata of tags in `seen`; adds the tags whose metadata it keeps. Requires: an Event.
std::string with_new_metadata_only(const std::string& event, std::set<std::string>& seen);

}  // namespace runnel
