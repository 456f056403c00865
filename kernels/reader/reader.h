// A reader of a session: takes file names from a queue and gives the records of one file after another. Steps
// that use one reader take turns: the one whose turn it is may wait for a file's name, the others wait for
// their turn, all of them parked. What is read belongs to the reader, so a step that is stopped loses
// nothing. Source: TensorFlow's ReaderBase (behaviour tried out); the code is ours.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "graph/kernel.h"
#include "kernels/queue/queue.h"
#include "kernels/reader/record_source.h"

namespace runnel {

class Reader;

// A step that reads, or resets.
class ReaderTurn final : public Parked {
 public:
  explicit ReaderTurn(std::shared_ptr<Reader> reader) : reader_(std::move(reader)) {}
  ~ReaderTurn() override;
  ReaderTurn(const ReaderTurn&) = delete;
  ReaderTurn& operator=(const ReaderTurn&) = delete;
  std::string cancelled() const override { return "the read was cancelled"; }

 private:
  friend class Reader;
  const std::shared_ptr<Reader> reader_;
  std::shared_ptr<QueueAttempt> name_;  // of the next file, to come
};

// Any thread may call.
class Reader final : public NodeState, public std::enable_shared_from_this<Reader> {
 public:
  static constexpr const char* kKind = "reader";
  // A queue that never ends may hold nothing but empty files. After so many in a row there is one warning.
  static constexpr std::int64_t kManyEmptyFiles = 1000;

  // `name` is for that warning.
  Reader(std::string name, std::unique_ptr<RecordFormat> format, FileSystem& files)
      : name_(std::move(name)), format_(std::move(format)), files_(files) {}

  // Up to `most` records of one file, at least one unless `most` is 0, added to `records`. False: it waits,
  // and the step is woken.
  bool read(Context& c, Queue& names, std::int64_t most, std::vector<KeyedRecord>& records);
  // As if it had not read anything. What is in the queue stays taken. False: it waits.
  bool reset(Context& c);

  std::int64_t records_produced() const { return produced_.load(); }
  std::int64_t files_completed() const { return completed_.load(); }

 private:
  friend class ReaderTurn;
  // The turn of the step behind `c`; null: it waits.
  ReaderTurn* turn(Context& c);
  void give_up(const ReaderTurn& turn) noexcept;
  bool open_next(Context& c, Queue& names, ReaderTurn& turn);
  bool read_some(std::int64_t most, std::vector<KeyedRecord>& records);
  void finish_file();
  void count_empty_file();

  const std::string name_;
  const std::unique_ptr<RecordFormat> format_;
  FileSystem& files_;
  std::atomic<std::int64_t> produced_{0}, completed_{0};
  // Of the step whose turn it is: the file that is being read, and how many before it had no record.
  std::unique_ptr<RecordSource> source_;
  std::string path_;
  bool is_empty_ = true;  // the file, so far
  std::int64_t empty_files_ = 0;
  bool warned_ = false;
  std::mutex mutex_;  // guards what follows
  const ReaderTurn* in_turn_ = nullptr;
  std::vector<std::shared_ptr<Waker>> waiting_;
};

}  // namespace runnel
