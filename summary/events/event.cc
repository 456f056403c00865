// The frame by hand, messages by protobuf.
#include "summary/events/event.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <bit>
#include <utility>

#include "graph/error.h"
#include "graph/utf8.h"
#include "runnel/event.pb.h"
#include "summary/events/wire_format.h"

namespace runnel {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

constexpr int kWallTime = 1, kStep = 2;                   // fields of Event
constexpr int kSummaryValue = 1;                          // of Summary
constexpr int kTag = 1, kSimpleValue = 2, kMetadata = 9;  // of Summary.Value
constexpr std::size_t kSimpleValueBytes = 1 + sizeof(float);

std::size_t field_bytes(std::size_t length) { return 1 + varint_bytes(length) + length; }

char* put_field_head(char* at, int field, std::size_t length) {
  *at++ = wire_key(field, WireType::kBytes);
  return put_varint(at, length);
}

// Calls `found` at the content of each field with this number; it may read that or leave it, and the rest is
// passed over.
template <class Found>
void for_each_field(CodedInputStream& in, Found found) {
  while (const std::uint32_t tag = in.ReadTag()) {
    const bool bytes = WireFormatLite::GetTagWireType(tag) == WireFormatLite::WIRETYPE_LENGTH_DELIMITED;
    if (!bytes) {
      if (!WireFormatLite::SkipField(&in, tag)) return;
      continue;
    }
    const auto outer = in.ReadLengthAndPushLimit();
    found(WireFormatLite::GetTagFieldNumber(tag));
    if (!in.Skip(in.BytesUntilLimit())) return;
    in.PopLimit(outer);
  }
}

}  // namespace

EventHead::EventHead(EventTime at, EventField field, std::size_t body) : body_(body) {
  char* end = bytes_.data();
  *end++ = wire_key(kWallTime, WireType::kFixed64);
  end = put_number(end, std::bit_cast<std::uint64_t>(at.wall));
  if (at.step != 0) {
    *end++ = wire_key(kStep, WireType::kVarint);
    end = put_varint(end, static_cast<std::uint64_t>(at.step));
  }
  end = put_field_head(end, static_cast<int>(field), body);
  size_ = static_cast<std::size_t>(end - bytes_.data());
}

ScalarEvent::ScalarEvent(EventTime at, std::string_view tag, float value)
    : tag_(tag), value_(value), head_(at, EventField::kSummary, field_bytes(value_bytes())) {}

std::size_t ScalarEvent::value_bytes() const { return field_bytes(tag_.size()) + kSimpleValueBytes; }

void ScalarEvent::write(char* at) const {
  at = put_bytes(at, head_.bytes());
  at = put_field_head(at, kSummaryValue, value_bytes());
  at = put_field_head(at, kTag, tag_.size());
  at = put_bytes(at, tag_);
  *at++ = wire_key(kSimpleValue, WireType::kFixed32);
  put_number(at, std::bit_cast<std::uint32_t>(value_));
}

std::string event_of(EventTime at, EventField field, std::string_view body) {
  std::string out(EventHead(at, field, body.size()).bytes());
  return out.append(body);
}

std::string version_event(double wall) {
  return event_of({.wall = wall}, EventField::kFileVersion, "brain.Event:2");
}

std::string session_log(SessionStatus status, const std::string& checkpoint_path,
                        const std::string& message) {
  for (const std::string& text : {checkpoint_path, message})
    if (!is_utf8(text))
      throw InvalidArgument(
          cat("add_session_log: '", text, "' is not UTF-8; nobody could read an event with it"));
  if (!pb::SessionLog::SessionStatus_IsValid(static_cast<int>(status)))
    throw InvalidArgument(cat("add_session_log: ", static_cast<int>(status), " is no SessionStatus"));
  pb::SessionLog log;
  log.set_status(static_cast<pb::SessionLog::SessionStatus>(status));
  log.set_checkpoint_path(checkpoint_path);
  log.set_msg(message);
  return log.SerializeAsString();
}

std::string tagged_run_metadata(const std::string& tag, std::string run_metadata) {
  pb::TaggedRunMetadata tagged;
  tagged.set_tag(tag);
  tagged.set_run_metadata(std::move(run_metadata));
  return tagged.SerializeAsString();
}

void require_summary(const std::string& summary) {
  if (!pb::Summary().ParseFromString(summary))
    throw InvalidArgument(cat("add_summary: these ", summary.size(),
                              " bytes are no Summary message; give what a summary op returned"));
}

void require_event(const std::string& event) {
  if (!pb::Event().ParseFromString(event))
    throw InvalidArgument(cat("add_event: these ", event.size(), " bytes are no Event message"));
}

void require_tag(std::string_view tag) {
  if (!is_utf8(tag))
    throw InvalidArgument(cat("tag '", tag, "' is not UTF-8; nobody could read an event with it"));
}

bool has_metadata(std::string_view summary) {
  bool found = false;
  std::string tag;
  CodedInputStream in(reinterpret_cast<const std::uint8_t*>(summary.data()),
                      static_cast<int>(summary.size()));
  for_each_field(in, [&](int number) {
    if (number != kSummaryValue) return;
    for_each_field(in, [&](int part) {
      found = found || part == kMetadata;
      if (part == kTag && in.ReadString(&tag, in.BytesUntilLimit())) require_tag(tag);
    });
  });
  return found;
}

std::string with_new_metadata_only(std::string_view event, std::set<std::string>& seen) {
  pb::Event parsed;
  if (!parsed.ParseFromArray(event.data(), static_cast<int>(event.size())))
    throw Internal("an event that was checked cannot be read");
  for (pb::Summary::Value& value : *parsed.mutable_summary()->mutable_value())
    if (value.has_metadata() && !seen.insert(value.tag()).second) value.clear_metadata();
  return parsed.SerializeAsString();
}

}  // namespace runnel
