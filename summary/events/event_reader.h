// Reads one event file, whoever wrote it: each event with its time, step and values. Values of older forms
// (simple_value, histo, image, audio) and graphs come as the tensors that TensorBoard makes of them, so that
// there is one form to deal with. Source: formats 2 and 8.2. A directory of files is event_log.h's.
#pragma once

#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "graph/io/file_system.h"
#include "graph/tensor.h"
#include "summary/events/event.h"
#include "summary/media_options.h"

namespace runnel {

// One value of one tag.
struct EventValue {
  std::string tag;
  // scalars: float scalar. histograms: [k, 3] of left edge, right edge, count. images: strings of width and
  // height in decimal, then the encoded pictures. audio: strings of encoded sounds. Others: as written. None
  // if there is no value, or if it cannot be read.
  Tensor tensor;
  std::string problem = "";  // why it cannot be read
  // The plugin that shows it, and what that plugin wants to know. Empty where the tag's first value said it.
  std::string plugin = "";
  std::string plugin_content = "";  // bytes
  std::string display_name = "";
  std::string description = "";
  DataClass data_class = DataClass::kUnknown;
  bool has_metadata = false;  // it says by what it is shown
};

enum class EventKind { kOther, kVersion, kGraph, kMetaGraph, kSummary, kSessionLog, kRunMetadata };

// What one record holds.
struct Event {
  EventTime at;
  EventKind kind = EventKind::kOther;
  // A summary's; a graph is a value tagged `__run_graph__`, and run metadata one with its tag.
  std::vector<EventValue> values = {};
  std::string text = "";             // the file version; what a session log says
  std::string bytes = "";            // of a meta graph
  int session_status = 0;            // of a session log: SessionStatus, or a number not known
  std::string checkpoint_path = "";  // of a session log
};

struct EventReaderOptions {
  bool skip_damaged = false;                // pass over damaged records where the next one can be found
  std::uint64_t offset = 0;                 // begin at this record
  FileSystem* files = &real_file_system();  // borrowed
};

// For one thread at a time.
class EventReader {
 public:
  class Iterator;

  // Throws what the file system says.
  explicit EventReader(const std::string& path, EventReaderOptions options = {});
  ~EventReader();
  EventReader(EventReader&&) noexcept;
  EventReader& operator=(EventReader&&) noexcept;

  // The next event, or nothing where the file ends; the same call may be made again when the file has grown.
  // Throws DataLoss with path and offset for a damaged record, again at each call.
  std::optional<Event> next();
  // for (const Event& event : reader): what next() gives, until there is nothing.
  Iterator begin();
  std::default_sentinel_t end() const { return {}; }

  std::uint64_t offset() const;  // where the next record starts
  bool truncated() const;        // the last call to next() met part of a record
  // Where damaged records began that were passed over.
  const std::vector<std::uint64_t>& skipped() const;
  const std::string& path() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

class EventReader::Iterator {
 public:
  using difference_type = std::ptrdiff_t;
  using value_type = Event;

  explicit Iterator(EventReader& reader) : reader_(&reader), event_(reader.next()) {}
  const Event& operator*() const { return *event_; }
  const Event* operator->() const { return &*event_; }
  Iterator& operator++() {
    event_ = reader_->next();
    return *this;
  }
  void operator++(int) { ++*this; }
  bool operator==(std::default_sentinel_t) const { return !event_; }

 private:
  EventReader* reader_;
  std::optional<Event> event_;
};

inline EventReader::Iterator EventReader::begin() { return Iterator(*this); }

}  // namespace runnel
