// Event messages as bytes: one is the payload of one record of an event file. An event with one scalar is
// written by hand, since it is written so often; of the others the frame is, around a message that protobuf
// serialized. Strings, since protobuf does not show in headers. Source: formats 2.3 and 8.1.
#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

namespace runnel {

// What a session log says: where training began, ended, or saved.
enum class SessionStatus { kStart = 1, kStop = 2, kCheckpoint = 3 };

// When and at which step something happened.
struct EventTime {
  double wall = 0;  // seconds since 1970
  std::int64_t step = 0;
};

// The field of Event that holds what happened, by number.
enum class EventField {
  kFileVersion = 3,
  kGraphDef = 4,
  kSummary = 5,
  kSessionLog = 7,
  kTaggedRunMetadata = 8,
  kMetaGraphDef = 9,
};

// The bytes of an event up to those of `field`, of which `body` bytes follow.
class EventHead {
 public:
  EventHead(EventTime at, EventField field, std::size_t body);
  std::string_view bytes() const { return {bytes_.data(), size_}; }
  std::size_t event_bytes() const { return size_ + body_; }

 private:
  std::array<char, 32> bytes_;  // two numbers of at most 9 and 11 bytes, a key and a length
  std::size_t size_;
  std::size_t body_;
};

// An event with one value{tag, simple_value}. Borrows the tag.
class ScalarEvent {
 public:
  ScalarEvent(EventTime at, std::string_view tag, float value);
  std::size_t event_bytes() const { return head_.event_bytes(); }
  void write(char* at) const;  // so many bytes

 private:
  std::size_t value_bytes() const;

  std::string_view tag_;
  float value_;
  EventHead head_;
};

std::string event_of(EventTime at, EventField field, std::string_view body);
// The first record of a file: the version, as TensorFlow 1 writes it.
std::string version_event(double wall);
// A serialized SessionLog.
std::string session_log(SessionStatus status, const std::string& checkpoint_path = "",
                        const std::string& message = "");
// A serialized TaggedRunMetadata.
std::string tagged_run_metadata(const std::string& tag, std::string run_metadata);

// Throw InvalidArgument if these bytes are none.
void require_summary(const std::string& summary);
void require_event(const std::string& event);
// What a reader of the file could not take for a string.
void require_tag(std::string_view tag);

// Whether a value of this Summary says how it is to be shown, which a file needs once a tag only. Large
// values are passed over unread. Throws like require_tag. Requires: a Summary.
bool has_metadata(std::string_view summary);
// The event without metadata of tags in `seen`; adds the tags whose metadata it keeps. Requires: an Event.
std::string with_new_metadata_only(std::string_view event, std::set<std::string>& seen);

}  // namespace runnel
