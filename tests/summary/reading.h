// What the tests of the writer need: the events that a directory's files hold.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "graph/io/file_system.h"
#include "runnel/event.pb.h"
#include "summary/events/record_reader.h"
#include "tests/graph/until.h"

namespace runnel {

// The whole events of one file; a torn end is passed over.
inline std::vector<pb::Event> events_of(FileSystem& files, const std::string& path) {
  std::vector<pb::Event> out;
  RecordReader reader(files.open_for_reading(path));
  while (auto record = reader.next()) REQUIRE(out.emplace_back().ParseFromString(*record));
  return out;
}

// The events of all files of the directory in name order, without version records.
inline std::vector<pb::Event> events_in(FileSystem& files, const std::string& directory) {
  std::vector<pb::Event> out;
  for (const std::string& name : files.list(directory))
    for (pb::Event& event : events_of(files, join_path(directory, name)))
      if (!event.has_file_version()) out.push_back(std::move(event));
  return out;
}

inline std::vector<std::int64_t> steps_in(FileSystem& files, const std::string& directory) {
  std::vector<std::int64_t> out;
  for (const pb::Event& event : events_in(files, directory)) out.push_back(event.step());
  return out;
}

}  // namespace runnel
