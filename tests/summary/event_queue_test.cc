// The queue of events and the blocks in it: bounds, order, and the memory that is used again.
#include "summary/events/event_queue.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <list>
#include <string>
#include <vector>

using namespace runnel;

namespace {

using Answer = EventQueue::Answer;

// A block of one record.
RecordBlock block_of(std::size_t payload, char fill = 'x', bool has_metadata = false) {
  RecordBlock block(record_bytes(payload));
  std::fill_n(block.next_payload(), payload, fill);
  block.add(payload, has_metadata);
  return block;
}

void add(EventQueue& queue, const std::string& payload) {
  RecordBlock& block = queue.block_for(payload.size());
  std::copy(payload.begin(), payload.end(), block.next_payload());
  block.add(payload.size(), false);
  queue.added(payload.size());
}

constexpr std::size_t kMegabyte = 1 << 20;

// Fills the queue until it refuses; returns how many it took.
int fill(EventQueue& queue) {
  int taken = 0;
  for (; queue.admit(kMegabyte) != Answer::kFirstDropped; ++taken) queue.push(block_of(kMegabyte));
  return taken;
}

}  // namespace

TEST_CASE("a queue takes 64 MiB, written or not, and then again when half is written") {
  EventQueue queue;
  CHECK(fill(queue) == 63);  // frames count, too
  CHECK(queue.admit(10) == Answer::kDropped);
  std::list<RecordBlock> taken;
  queue.take(taken);
  CHECK(queue.bytes() == 0);
  CHECK(queue.unwritten_records() == 63);
  CHECK(queue.admit(10) == Answer::kDropped);
  for (int i = 0; i < 32; ++i) {
    CHECK(queue.admit(10) == Answer::kDropped);
    queue.written(record_bytes(kMegabyte), 1);
    queue.give_back(taken);
  }
  CHECK(queue.admit(10) == Answer::kTakenAgain);
  CHECK(queue.admit(10) == Answer::kTaken);
}

TEST_CASE("a record above the bound is taken when nothing else waits") {
  EventQueue queue;
  CHECK(queue.admit(2 * EventQueue::kMostBytes) == Answer::kTaken);
  queue.push(block_of(100'000));
  CHECK(queue.admit(2 * EventQueue::kMostBytes) == Answer::kFirstDropped);
}

TEST_CASE("small records share blocks, in order, also around large ones") {
  EventQueue queue;
  add(queue, "one");
  add(queue, "two");
  queue.push(block_of(100'000));
  add(queue, std::string(60'000, 'y'));
  for (int i = 0; i < 4; ++i) add(queue, std::string(60'000, 'z'));
  CHECK(queue.records() == 8);
  std::list<RecordBlock> taken;
  queue.take(taken);
  std::vector<std::int64_t> records;
  for (const RecordBlock& block : taken) records.push_back(block.records());
  CHECK(records == std::vector<std::int64_t>{2, 1, 4, 1});
  CHECK(taken.front().bytes().find("one") < taken.front().bytes().find("two"));
}

TEST_CASE("a block that was given back is used again") {
  EventQueue queue;
  add(queue, "one");
  const char* const memory = queue.block_for(1).bytes().data();
  std::list<RecordBlock> taken;
  queue.take(taken);
  taken.front().clear();
  queue.give_back(taken);
  CHECK(taken.empty());
  add(queue, "two");
  CHECK(queue.block_for(1).bytes().data() == memory);
  CHECK(queue.block_for(1).records() == 1);
}

TEST_CASE("a block forgets its first records, and the marks of those alone") {
  RecordBlock block(1000);
  for (const bool marked : {true, false, true}) {
    *block.next_payload() = 'p';
    block.add(1, marked);
  }
  block.drop_front(2);
  CHECK(block.records() == 1);
  CHECK(block.bytes().size() == record_bytes(1));
  REQUIRE(block.marks().size() == 1);
  CHECK(block.marks()[0].start == 2 * record_bytes(1));
  block.drop_front(1);
  CHECK(block.bytes().empty());
  CHECK(block.marks().empty());
}

TEST_CASE("records are whole up to the last one that a cut leaves whole") {
  std::string bytes;
  for (const char* payload : {"", "four", "x"}) append_record(bytes, payload);
  for (std::size_t size = 0; size <= bytes.size() + 1; ++size) {
    CAPTURE(size);
    CHECK(whole_records(bytes, size) == (size >= 16) + (size >= 36) + (size >= 53));
  }
}
