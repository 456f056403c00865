// Fills Event messages and serializes them.
#include "summary/event.h"

#include <algorithm>

#include "graph/error.h"
#include "runnel/event.pb.h"

namespace runnel {
namespace {

pb::Event event_at(EventTime at) {
  pb::Event event;
  event.set_wall_time(at.wall);
  event.set_step(at.step);
  return event;
}

}  // namespace

std::string version_event(double wall) {
  pb::Event event = event_at({.wall = wall});
  event.set_file_version("brain.Event:2");
  return event.SerializeAsString();
}

std::string session_log_event(EventTime at, SessionStatus status, const std::string& checkpoint_path,
                              const std::string& message) {
  pb::Event event = event_at(at);
  pb::SessionLog& log = *event.mutable_session_log();
  log.set_status(static_cast<pb::SessionLog::SessionStatus>(status));
  log.set_checkpoint_path(checkpoint_path);
  log.set_msg(message);
  return event.SerializeAsString();
}

std::string graph_def_event(EventTime at, std::string graph_def) {
  pb::Event event = event_at(at);
  event.set_graph_def(std::move(graph_def));
  return event.SerializeAsString();
}

std::string meta_graph_def_event(EventTime at, std::string meta_graph_def) {
  pb::Event event = event_at(at);
  event.set_meta_graph_def(std::move(meta_graph_def));
  return event.SerializeAsString();
}

PendingEvent summary_event(EventTime at, const std::string& summary) {
  pb::Event event = event_at(at);
  pb::Summary& parsed = *event.mutable_summary();
  if (!parsed.ParseFromString(summary))
    throw InvalidArgument(cat("add_summary: these ", summary.size(),
                              " bytes are no Summary message; give what a summary op returned"));
  const bool has_metadata = std::any_of(parsed.value().begin(), parsed.value().end(),
                                        [](const pb::Summary::Value& value) { return value.has_metadata(); });
  return {event.SerializeAsString(), has_metadata};
}

PendingEvent checked_event(std::string event) {
  if (!pb::Event().ParseFromString(event))
    throw InvalidArgument(cat("add_event: these ", event.size(), " bytes are no Event message"));
  return {std::move(event), false};
}

std::string with_new_metadata_only(const std::string& event, std::set<std::string>& seen) {
  pb::Event parsed;
  if (!parsed.ParseFromString(event)) throw Internal("an event that was checked cannot be read");
  for (pb::Summary::Value& value : *parsed.mutable_summary()->mutable_value())
    if (value.has_metadata() && !seen.insert(value.tag()).second) value.clear_metadata();
  return parsed.SerializeAsString();
}

}  // namespace runnel
