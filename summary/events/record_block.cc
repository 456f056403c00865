// Records say how long they are, so the places of all others need not be kept.
#include "summary/events/record_block.h"

#include <algorithm>

namespace runnel {

void RecordBlock::drop_front(std::int64_t count) {
  records_ -= count;
  for (; count > 0; --count) start_ += record_bytes(payload_of_record(memory_.get() + start_));
  const auto kept = std::find_if(marks_.begin(), marks_.end(), [this](Mark m) { return m.start >= start_; });
  marks_.erase(marks_.begin(), kept);
}

void RecordBlock::clear() {
  start_ = end_ = 0;
  records_ = 0;
  marks_.clear();
}

std::int64_t whole_records(std::string_view framed, std::size_t size) {
  std::int64_t count = 0;
  for (std::size_t at = 0; at < framed.size(); ++count) {
    at += record_bytes(payload_of_record(framed.data() + at));
    if (at > size) break;
  }
  return count;
}

}  // namespace runnel
