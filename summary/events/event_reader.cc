// The records are RecordReader's; here they become events.
#include "summary/events/event_reader.h"

#include "graph/wire.h"
#include "runnel/event.pb.h"
#include "summary/events/event_value.h"
#include "summary/events/record_reader.h"

namespace runnel {

struct EventReader::State {
  RecordReader records;
};

EventReader::EventReader(const std::string& path, EventReaderOptions options)
    : state_(std::make_unique<State>(State{
          RecordReader(options.files->open_for_reading(path), {.skip_damaged = options.skip_damaged})})) {
  state_->records.seek(options.offset);
}

EventReader::~EventReader() = default;
EventReader::EventReader(EventReader&&) noexcept = default;
EventReader& EventReader::operator=(EventReader&&) noexcept = default;

std::optional<Event> EventReader::next() {
  while (const std::optional<std::string> record = state_->records.next()) {
    pb::Event message;
    if (parse_message(*record, message)) return event_in(message);
    state_->records.refuse("is a sound record that holds no event");
  }
  return std::nullopt;
}

std::uint64_t EventReader::offset() const { return state_->records.offset(); }
bool EventReader::truncated() const { return state_->records.truncated(); }
const std::vector<std::uint64_t>& EventReader::skipped() const { return state_->records.skipped(); }
const std::string& EventReader::path() const { return state_->records.path(); }

}  // namespace runnel
