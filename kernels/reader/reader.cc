// Only taking turns is under a lock: neither a queue nor a file is touched there.
#include "kernels/reader/reader.h"

#include <algorithm>
#include <utility>

#include "graph/error.h"
#include "graph/log.h"

namespace runnel {

ReaderTurn::~ReaderTurn() {
  name_.reset();  // a name that came too late goes back into the queue
  reader_->give_up(*this);
}

ReaderTurn* Reader::turn(Context& c) {
  std::shared_ptr<Parked>& parked = c.parked();
  if (!parked) parked = std::make_shared<ReaderTurn>(shared_from_this());
  auto* const own = static_cast<ReaderTurn*>(parked.get());
  const std::lock_guard lock(mutex_);
  if (!in_turn_) in_turn_ = own;
  if (in_turn_ == own) return own;
  const std::shared_ptr<Waker> waker = c.waker();
  if (std::find(waiting_.begin(), waiting_.end(), waker) == waiting_.end()) waiting_.push_back(waker);
  return nullptr;
}

void Reader::give_up(const ReaderTurn& turn) noexcept {
  std::vector<std::shared_ptr<Waker>> wake;
  {
    const std::lock_guard lock(mutex_);
    if (in_turn_ != &turn) return;
    in_turn_ = nullptr;
    wake.swap(waiting_);
  }
  for (const std::shared_ptr<Waker>& waker : wake) waker->wake();
}

bool Reader::read(Context& c, Queue& names, std::int64_t most, std::vector<KeyedRecord>& records) {
  if (most < 0) throw InvalidArgument(cat("num_records is ", most, ", and must be 0 or more"));
  if (most == 0) return true;
  ReaderTurn* const own = turn(c);
  if (!own) return false;
  for (;;) {
    if (c.cancelled()) return false;  // empty files of a queue that never ends would keep it here
    if (!source_ && !open_next(c, names, *own)) return false;
    if (read_some(most, records)) return true;
  }
}

bool Reader::open_next(Context& c, Queue& names, ReaderTurn& turn) {
  if (!turn.name_) turn.name_ = names.dequeue(c.waker());
  if (!turn.name_->done()) return false;
  const std::shared_ptr<QueueAttempt> name = std::move(turn.name_);
  const std::vector<Tensor> element = name->take();
  path_ = element.at(0).scalar<std::string>();
  is_empty_ = true;
  source_ = format_->open(files_, path_);
  return true;
}

// False if the file ended before there was any.
bool Reader::read_some(std::int64_t most, std::vector<KeyedRecord>& records) {
  const std::size_t before = records.size();
  while (static_cast<std::int64_t>(records.size() - before) < most) {
    std::optional<KeyedRecord> record;
    try {
      record = source_->next();
    } catch (const Error&) {
      if (records.size() == before) throw;  // else the next read meets it again
      break;
    }
    if (record) {
      records.push_back(std::move(*record));
      produced_.fetch_add(1);
      is_empty_ = false;
    }
    if (!record || source_->is_whole()) {
      finish_file();
      break;
    }
  }
  return records.size() > before;
}

void Reader::finish_file() {
  source_.reset();
  completed_.fetch_add(1);
  if (is_empty_) {
    count_empty_file();
  } else {
    empty_files_ = 0;
  }
}

void Reader::count_empty_file() {
  if (++empty_files_ < kManyEmptyFiles || warned_) return;
  warned_ = true;
  log_warning(cat("reader '", name_, "': the last ", empty_files_, " files had no record, '", path_,
                  "' being one of them; it looks for one in those to come. Are the files empty, or are all "
                  "their lines skipped as header lines?"));
}

bool Reader::reset(Context& c) {
  if (!turn(c)) return false;
  source_.reset();
  empty_files_ = 0;
  produced_ = 0;
  completed_ = 0;
  return true;
}

}  // namespace runnel
