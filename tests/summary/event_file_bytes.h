// Event files for the tests of the readers: bytes of what a writer would have written.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/io/memory_file_system.h"
#include "graph/io/record_format.h"
#include "runnel/event.pb.h"

namespace runnel {

inline std::string record_of(const pb::Event& event) {
  std::string out;
  append_record(out, event.SerializeAsString());
  return out;
}

inline std::string scalar_record(const std::string& tag, float value, std::int64_t step, double wall = 1) {
  pb::Event event;
  event.set_wall_time(wall), event.set_step(step);
  event.mutable_summary()->add_value()->set_tag(tag);
  event.mutable_summary()->mutable_value(0)->set_simple_value(value);
  return record_of(event);
}

inline std::string version_record(double wall = 1) {
  pb::Event event;
  event.set_wall_time(wall), event.set_file_version("brain.Event:2");
  return record_of(event);
}

inline std::string start_record(std::int64_t step) {
  pb::Event event;
  event.set_wall_time(1), event.set_step(step);
  event.mutable_session_log()->set_status(pb::SessionLog::START);
  return record_of(event);
}

// Of one value that `fill` makes.
template <class Fill>
std::string value_record(const Fill& fill) {
  pb::Event event;
  fill(*event.mutable_summary()->add_value());
  return record_of(event);
}

// A version record and a scalar `a` at each step, whose value is the step.
inline std::string curve(const std::vector<std::int64_t>& steps) {
  std::string out = version_record();
  for (const std::int64_t step : steps) out += scalar_record("a", static_cast<float>(step), step);
  return out;
}

inline void put(FileSystem& files, const std::string& path, const std::string& bytes) {
  make_directories(files, parent_of(path));
  files.open_for_writing(path, WriteMode::kTruncate)->append(bytes);
}

}  // namespace runnel
