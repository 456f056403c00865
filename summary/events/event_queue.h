// What waits to be written: framed records in blocks, in the order in which they were added, at most 64 MiB
// of them. Beyond that the newest are dropped, so nobody ever waits; once that has begun, half of the room
// must be free before records are taken again, so that a disk that is a little too slow is not reported over
// and over.
#pragma once

#include <cstdint>
#include <list>
#include <vector>

#include "summary/events/record_block.h"

namespace runnel {

// Not locked: its owner's mutex guards it.
class EventQueue {
 public:
  static constexpr std::size_t kMostBytes = 64 << 20;
  static constexpr std::size_t kBlockBytes = 256 << 10;    // fits the processor's cache beside other things
  static constexpr std::size_t kOwnBlockBytes = 64 << 10;  // a payload of so many has a block of its own

  enum class Answer { kTaken, kTakenAgain, kDropped, kFirstDropped };
  // Whether there is room for this payload, and whether that is news. One that is larger than the bound is
  // taken when nothing else waits.
  Answer admit(std::size_t payload) {
    const bool plenty = !dropping_ && unwritten_bytes_ + record_bytes(payload) <= kMostBytes;
    return plenty ? Answer::kTaken : admit_at_bound(payload);
  }

  // A block with room for this payload, which is then `added`. Requires: it was admitted, and is smaller than
  // kOwnBlockBytes.
  RecordBlock& block_for(std::size_t payload) {
    return !blocks_.empty() && blocks_.back().fits(payload) ? blocks_.back() : next_block();
  }
  void added(std::size_t payload) {
    bytes_ += record_bytes(payload);
    unwritten_bytes_ += record_bytes(payload);
    ++records_;
    ++unwritten_records_;
  }
  void push(RecordBlock block);  // of one record that was admitted

  // Moves all blocks to the end of `to`. They count against the bound until they are written.
  void take(std::list<RecordBlock>& to) noexcept;
  void written(std::size_t bytes, std::int64_t records);
  void give_back(
      std::list<RecordBlock>& from) noexcept;  // the first block there, which is empty, for use again

  // Of what was not taken yet.
  std::size_t bytes() const { return bytes_; }
  std::int64_t records() const { return records_; }
  // Of all that is not written.
  std::int64_t unwritten_records() const { return unwritten_records_; }

 private:
  Answer admit_at_bound(std::size_t payload);
  RecordBlock& next_block();

  std::list<RecordBlock> blocks_, spare_;
  std::size_t bytes_ = 0, unwritten_bytes_ = 0;
  std::int64_t records_ = 0, unwritten_records_ = 0;
  bool dropping_ = false;
};

}  // namespace runnel
