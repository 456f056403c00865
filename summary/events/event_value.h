// What a message of an event file means to TensorBoard: values of older forms as tensors, with the plugin
// that shows them. Source: formats 8.2.
#pragma once

#include "summary/events/event_reader.h"

namespace runnel {
namespace pb {
class Event;
class Summary_Value;
class SummaryMetadata;
}  // namespace pb

// The tag under which TensorBoard keeps a run's graph.
inline constexpr const char* kGraphTag = "__run_graph__";

// Never throws for what is in the message: a value that cannot be read has a problem.
Event event_in(const pb::Event& message);
// The value at `index` of the event, in the order of Event::values. Requires: that there is one.
EventValue value_of(const pb::Event& message, std::size_t index);

// The same without the value: tag, plugin and texts.
EventValue described(const pb::Summary_Value& value);
EventValue described_graph();
EventValue described_run_metadata(const std::string& tag);

// The number that a real scalar is, and its type; none for others.
struct EventNumber {
  double value;
  DType dtype;
};
std::optional<EventNumber> number_of(const pb::Summary_Value& value);

}  // namespace runnel
