// Blocks that were written are used again, since fresh memory costs more than the records in it.
#include "summary/events/event_queue.h"

#include <utility>

namespace runnel {
namespace {

constexpr std::size_t kSpareBlocks = 8;

}  // namespace

EventQueue::Answer EventQueue::admit_at_bound(std::size_t payload) {
  const std::size_t bound = dropping_ ? kMostBytes / 2 : kMostBytes;
  const bool room = unwritten_bytes_ == 0 || unwritten_bytes_ + record_bytes(payload) <= bound;
  if (room) return std::exchange(dropping_, false) ? Answer::kTakenAgain : Answer::kTaken;
  return std::exchange(dropping_, true) ? Answer::kDropped : Answer::kFirstDropped;
}

RecordBlock& EventQueue::next_block() {
  if (spare_.empty())
    blocks_.emplace_back(kBlockBytes);
  else
    blocks_.splice(blocks_.end(), spare_, spare_.begin());
  return blocks_.back();
}

void EventQueue::push(RecordBlock block) {
  const std::size_t payload = block.bytes().size() - record_bytes(0);
  blocks_.push_back(std::move(block));
  added(payload);
}

void EventQueue::take(std::list<RecordBlock>& to) noexcept {
  to.splice(to.end(), blocks_);
  bytes_ = 0;
  records_ = 0;
}

void EventQueue::written(std::size_t bytes, std::int64_t records) {
  unwritten_bytes_ -= bytes;
  unwritten_records_ -= records;
}

void EventQueue::give_back(std::list<RecordBlock>& from) noexcept {
  if (from.front().capacity() != kBlockBytes || spare_.size() >= kSpareBlocks) return from.pop_front();
  spare_.splice(spare_.end(), from, from.begin());
}

}  // namespace runnel
