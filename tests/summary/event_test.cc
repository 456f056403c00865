// Events written by hand equal those that protobuf writes.
#include "summary/events/event.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "graph/error.h"
#include "runnel/event.pb.h"

using namespace runnel;

namespace {

pb::Event event_at(EventTime at) {
  pb::Event event;
  event.set_wall_time(at.wall);
  event.set_step(at.step);
  return event;
}

std::string written(const ScalarEvent& event) {
  std::string out(event.event_bytes(), '?');
  event.write(out.data());
  return out;
}

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
const std::vector<std::string> kTags = {"a",
                                        "train/loss",
                                        std::string("odd\0tag \n", 9),
                                        "\xc3\xa4/\xe2\x82\xac",
                                        std::string(114, 't'),
                                        std::string(115, 't'),
                                        std::string(127, 't'),
                                        std::string(128, 't'),
                                        std::string(70'000, 't')};

std::string summary_of(const std::string& tag, bool metadata) {
  pb::Summary summary;
  for (int i = 0; i < 2; ++i) {
    pb::Summary::Value& value = *summary.add_value();
    value.set_tag(cat(tag, i));
    value.mutable_image()->set_encoded_image_string("\x4a\x4a picture");  // bytes that could be keys
    if (metadata && i == 1) value.mutable_metadata()->mutable_plugin_data()->set_plugin_name("text");
  }
  return summary.SerializeAsString();
}

}  // namespace

TEST_CASE("an event with one scalar has protobuf's bytes, whatever tag, step and value") {
  for (const std::string& tag : kTags)
    for (const std::int64_t step : {std::int64_t{0}, std::int64_t{1}, std::int64_t{127}, std::int64_t{128},
                                    kMost, std::int64_t{-1}, -kMost - 1})
      for (const float value : {0.0f, -0.0f, 0.1f, INFINITY, NAN}) {
        CAPTURE(tag.size());
        CAPTURE(step);
        CAPTURE(value);
        const EventTime at{1.7e9 + 1e-6, step};
        pb::Event want = event_at(at);
        pb::Summary::Value& one = *want.mutable_summary()->add_value();
        one.set_tag(tag);
        one.set_simple_value(value);
        CHECK(written(ScalarEvent(at, tag, value)) == want.SerializeAsString());
      }
}

TEST_CASE("a message in any field of an event has protobuf's bytes around it") {
  const EventTime at{1.7e9, 300};
  const std::string body(200, 'b');
  pb::Event want = event_at(at);
  want.set_graph_def(body);
  CHECK(event_of(at, EventField::kGraphDef, body) == want.SerializeAsString());
  want.set_meta_graph_def(body);
  CHECK(event_of(at, EventField::kMetaGraphDef, body) == want.SerializeAsString());
  want.mutable_session_log()->set_status(pb::SessionLog::CHECKPOINT);
  want.mutable_session_log()->set_checkpoint_path("model-300");
  CHECK(event_of(at, EventField::kSessionLog, session_log(SessionStatus::kCheckpoint, "model-300")) ==
        want.SerializeAsString());
  want.mutable_tagged_run_metadata()->set_tag("t");
  CHECK(event_of(at, EventField::kTaggedRunMetadata, want.tagged_run_metadata().SerializeAsString()) ==
        want.SerializeAsString());
  CHECK(EventHead(at, EventField::kSummary, 5).event_bytes() ==
        event_of(at, EventField::kSummary, "12345").size());
}

TEST_CASE("metadata is found in whichever value has it, and nothing else is taken for it") {
  CHECK(has_metadata(summary_of("t", true)));
  CHECK_FALSE(has_metadata(summary_of("t", false)));
  CHECK_FALSE(has_metadata(""));
}

TEST_CASE("a tag that is not UTF-8 is refused, since no reader takes the event") {
  CHECK_NOTHROW(require_tag("\xc3\xa4"));
  CHECK_THROWS_AS(require_tag("\xc3"), InvalidArgument);
  CHECK_THROWS_AS(has_metadata(std::string("\x0a\x05\x0a\x03"
                                           "a\xff"
                                           "b",
                                           7)),
                  InvalidArgument);
}

TEST_CASE("metadata stays with the first value of its tag alone") {
  std::set<std::string> seen;
  const std::string event = event_of({1, 2}, EventField::kSummary, summary_of("t", true));
  CHECK(with_new_metadata_only(event, seen) == event);
  CHECK(seen == std::set<std::string>{"t1"});
  CHECK(with_new_metadata_only(event, seen) ==
        event_of({1, 2}, EventField::kSummary, summary_of("t", false)));
}
