// Values that TensorBoard's own functions made: golden/events/plugins, written by make_events.py.
#pragma once

#include <doctest/doctest.h>

#include <string>

#include "graph/io/file_system.h"
#include "runnel/plugins.pb.h"
#include "tests/summary/reading.h"

namespace runnel {

inline pb::Summary::Value golden_plugin_value(const std::string& tag) {
  const std::string path = join_path(RUNNEL_GOLDEN, "events/plugins/events.out.tfevents.1700000002.host");
  for (const pb::Event& event : events_of(real_file_system(), path))
    for (const pb::Summary::Value& value : event.summary().value())
      if (value.tag() == tag) return value;
  FAIL("no golden value has the tag " << tag);
  return {};
}

// The only value of the summary.
inline pb::Summary::Value value_in(const std::string& summary) {
  pb::Summary parsed;
  REQUIRE(parsed.ParseFromString(summary));
  REQUIRE(parsed.value_size() == 1);
  return parsed.value(0);
}

// What the plugin keeps in the metadata of the value.
template <class Message>
Message content_of(const pb::Summary::Value& value) {
  Message message;
  REQUIRE(message.ParseFromString(value.metadata().plugin_data().content()));
  return message;
}

}  // namespace runnel
