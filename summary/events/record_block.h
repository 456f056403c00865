// A stretch of framed records in memory, which goes to the file in one piece. It never moves its bytes, so
// that a record is made where it stays; records whose values say how they are shown are marked, since a file
// needs that once a tag only.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "graph/io/record_format.h"

namespace runnel {

// For one thread at a time.
class RecordBlock {
 public:
  struct Mark {
    std::size_t start, payload;  // of the record, from the start of the block; bytes of its payload
  };

  explicit RecordBlock(std::size_t capacity)
      : memory_(std::make_unique_for_overwrite<char[]>(capacity)), capacity_(capacity) {}

  bool fits(std::size_t payload) const { return record_bytes(payload) <= capacity_ - end_; }
  // Where the payload of one more record belongs. Requires: fits(payload).
  char* next_payload() { return memory_.get() + end_ + kRecordHeaderBytes; }
  // Frames what was written there.
  void add(std::size_t payload, bool has_metadata) {
    if (has_metadata) marks_.push_back({end_, payload});
    frame_record(memory_.get() + end_, payload);
    end_ += record_bytes(payload);
    ++records_;
  }

  std::string_view bytes() const { return bytes_between(start_, end_); }
  std::int64_t records() const { return records_; }
  std::size_t capacity() const { return capacity_; }
  const std::vector<Mark>& marks() const { return marks_; }
  // The bytes from `from` to `to`, counted like a mark's start.
  std::string_view bytes_between(std::size_t from, std::size_t to) const {
    return {memory_.get() + from, to - from};
  }
  std::size_t start() const { return start_; }
  std::size_t end() const { return end_; }

  // Forgets the first `count` records. Requires: it holds so many.
  void drop_front(std::int64_t count);
  void clear();  // all of them, and the whole capacity is free

 private:
  std::unique_ptr<char[]> memory_;
  std::size_t capacity_;
  std::size_t start_ = 0, end_ = 0;  // of the records
  std::int64_t records_ = 0;
  std::vector<Mark> marks_;  // ascending
};

// How many whole records begin the first `size` of these framed bytes.
std::int64_t whole_records(std::string_view framed, std::size_t size);

}  // namespace runnel
