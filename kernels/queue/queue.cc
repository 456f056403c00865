// Serving the attempts of a queue.
#include "kernels/queue/queue.h"

#include <algorithm>
#include <utility>

#include "kernels/queue/rows.h"

namespace runnel {

QueueAttempt::QueueAttempt(std::shared_ptr<Queue> queue, Kind kind, std::shared_ptr<Waker> waker)
    : queue_(std::move(queue)), kind_(kind), waker_(std::move(waker)) {}

QueueAttempt::~QueueAttempt() { queue_->drop(*this); }

bool QueueAttempt::puts_in() const {
  return kind_ == Kind::kEnqueue || kind_ == Kind::kEnqueueMany || kind_ == Kind::kClose;
}

std::string QueueAttempt::cancelled() const {
  const char* what = kind_ == Kind::kClose ? "Close" : puts_in() ? "Enqueue" : "Dequeue";
  return cat(what, " operation was cancelled on ", queue_->text());
}

std::vector<Tensor> QueueAttempt::take() {
  if (failed_ != Code{}) throw_error(failed_, why_);
  if (puts_in()) return {};
  // If there is no memory for a batch, the elements stay here and go back into the queue.
  std::vector<Tensor> out = kind_ == Kind::kDequeue ? std::move(taken_.front()) : batch();
  taken_.clear();
  return out;
}

std::vector<Tensor> QueueAttempt::batch() const {
  const QueueForm& form = queue_->form();
  std::vector<Tensor> out;
  for (std::size_t k = 0; k < form.types.size(); ++k) {
    std::vector<Tensor> rows;
    rows.reserve(taken_.size());
    for (const QueueElement& element : taken_) rows.push_back(element[k]);
    out.push_back(batch_of(form.types[k], form.shapes[k], rows));
  }
  return out;
}

Queue::Queue(QueueForm form, std::unique_ptr<QueueOrder> order)
    : form_(std::move(form)), order_(std::move(order)) {}

std::string Queue::text() const { return cat(form_.kind, " '", form_.name, "'"); }

void Queue::require_same(const QueueForm& other) const {
  const auto differ = [&](const char* what, const auto& has, const auto& asked) {
    throw InvalidArgument(cat("Shared queue '", form_.name, "' has ", what, " ", has, ", but ", what, " ",
                              asked, " was asked for: give one of them another shared_name"));
  };
  const auto list = [](const auto& items) {
    std::string out = "[";
    for (const auto& item : items) out += cat(out.size() > 1 ? ", " : "", item);
    return out + "]";
  };
  if (form_.kind != other.kind) differ("type", form_.kind, other.kind);
  if (std::max<std::int64_t>(form_.capacity, -1) != std::max<std::int64_t>(other.capacity, -1))
    differ("capacity", form_.capacity, other.capacity);
  if (form_.types != other.types) differ("component types", list(form_.types), list(other.types));
  if (form_.shapes != other.shapes) differ("component shapes", list(form_.shapes), list(other.shapes));
  if (form_.min_after_dequeue != other.min_after_dequeue)
    differ("min_after_dequeue", form_.min_after_dequeue, other.min_after_dequeue);
}

void Queue::require_component(std::size_t k, const Tensor& tensor, bool batch) const {
  if (tensor.dtype() != form_.types[k])
    throw InvalidArgument(
        cat("component ", k, " is ", tensor.dtype(), ", but ", text(), " holds ", form_.types[k], " there"));
  if (batch && tensor.shape().rank() < 1)
    throw InvalidArgument(cat("component ", k, " is a scalar, not a batch of elements for ", text()));
  if (form_.shapes.empty()) return;
  const std::span<const std::int64_t> dims = tensor.shape().dims();
  const Shape shape(batch ? dims.subspan(1) : dims);
  if (!shape.compatible_with(form_.shapes[k]))
    throw InvalidArgument(cat(batch ? "the elements of component " : "component ", k,
                              batch ? " have shape " : " has shape ", shape, ", but ", text(), " holds ",
                              form_.shapes[k], " there"));
}

void Queue::require_element(const QueueElement& given, bool batch) const {
  if (given.size() != form_.types.size())
    throw InvalidArgument(
        cat(given.size(), " components are given, but ", text(), " holds ", form_.types.size()));
  for (std::size_t k = 0; k < given.size(); ++k) require_component(k, given[k], batch);
  for (std::size_t k = 1; batch && k < given.size(); ++k)
    if (given[k].shape()[0] != given[0].shape()[0])
      throw InvalidArgument(cat("the batch for ", text(), " has ", given[0].shape()[0],
                                " elements in component 0 and ", given[k].shape()[0], " in component ", k));
}

std::shared_ptr<QueueAttempt> Queue::make(QueueAttempt::Kind kind, std::shared_ptr<Waker> waker) {
  return std::make_shared<QueueAttempt>(shared_from_this(), kind, std::move(waker));
}

std::shared_ptr<QueueAttempt> Queue::enqueue(QueueElement element, std::shared_ptr<Waker> waker) {
  require_element(element, false);
  std::shared_ptr<QueueAttempt> attempt = make(QueueAttempt::Kind::kEnqueue, std::move(waker));
  attempt->given_ = std::move(element);
  attempt->rows_ = 1;
  return start(std::move(attempt));
}

std::shared_ptr<QueueAttempt> Queue::enqueue_many(QueueElement batch, std::shared_ptr<Waker> waker) {
  require_element(batch, true);
  std::shared_ptr<QueueAttempt> attempt = make(QueueAttempt::Kind::kEnqueueMany, std::move(waker));
  attempt->rows_ = batch[0].shape()[0];
  attempt->given_ = std::move(batch);
  if (attempt->rows_ > 0) return start(std::move(attempt));
  attempt->done_ = true;  // nothing to put in, also when it is closed
  return attempt;
}

std::shared_ptr<QueueAttempt> Queue::dequeue(std::shared_ptr<Waker> waker) {
  return start(make(QueueAttempt::Kind::kDequeue, std::move(waker)));
}

std::shared_ptr<QueueAttempt> Queue::dequeue_many(std::int64_t n, bool up_to, std::shared_ptr<Waker> waker) {
  if (n < 0) throw InvalidArgument(cat(n, " elements were asked of ", text(), "; n must be at least 0"));
  if (form_.shapes.empty())
    throw InvalidArgument(
        cat(text(), " does not know the shapes of its elements, and batches require the components",
            " to have specified shapes: give the queue its shapes, or dequeue one at a time"));
  using Kind = QueueAttempt::Kind;
  std::shared_ptr<QueueAttempt> attempt =
      make(up_to ? Kind::kDequeueUpTo : Kind::kDequeueMany, std::move(waker));
  attempt->wanted_ = n;
  if (n > 0) return start(std::move(attempt));
  attempt->done_ = true;
  return attempt;
}

std::shared_ptr<QueueAttempt> Queue::close(std::shared_ptr<Waker> waker) {
  return start(make(QueueAttempt::Kind::kClose, std::move(waker)));
}

void Queue::close_and_cancel() {
  Wakers wake;
  {
    std::lock_guard hold(mutex_);
    closed_ = true;
    while (!putting_.empty()) {
      QueueAttempt& attempt = *putting_.front();
      fail(attempt, Code::kCancelled, cat(attempt.cancelled(), ", which was closed"));
      wake.push_back(attempt.waker_);
      finish(attempt);
    }
    serve(wake, nullptr);
  }
  for (const std::shared_ptr<Waker>& waker : wake) waker->wake();
}

std::int64_t Queue::size() const {
  std::lock_guard hold(mutex_);
  return order_->size();
}

bool Queue::is_closed() const {
  std::lock_guard hold(mutex_);
  return closed_;
}

std::size_t Queue::waiting() const {
  std::lock_guard hold(mutex_);
  return putting_.size() + taking_.size();
}

std::shared_ptr<QueueAttempt> Queue::start(std::shared_ptr<QueueAttempt> attempt) {
  Wakers wake;
  {
    std::lock_guard hold(mutex_);
    std::list<QueueAttempt*>& list = attempt->puts_in() ? putting_ : taking_;
    attempt->place_ = list.insert(list.end(), attempt.get());
    attempt->listed_ = true;
    serve(wake, attempt.get());
  }
  for (const std::shared_ptr<Waker>& waker : wake) waker->wake();
  return attempt;
}

// An attempt goes; what waited behind it may move.
void Queue::drop(QueueAttempt& attempt) noexcept {
  if (attempt.done() && attempt.taken_.empty()) return;
  Wakers wake;
  try {
    std::lock_guard hold(mutex_);
    if (attempt.listed_) finish(attempt);
    put_back(attempt);
    serve(wake, nullptr);
  } catch (const std::bad_alloc&) {  // what it had taken is lost; nothing else can be done here
  }
  for (const std::shared_ptr<Waker>& waker : wake) waker->wake();
}

void Queue::serve(Wakers& wake, const QueueAttempt* own) {
  bool moved = true;
  while (moved) {
    moved = serve(putting_, wake, own);
    moved = serve(taking_, wake, own) || moved;
  }
}

// Serves a list from its head, until one has to wait. `own` is the caller's attempt, whose step is awake.
bool Queue::serve(std::list<QueueAttempt*>& attempts, Wakers& wake, const QueueAttempt* own) {
  bool moved = false;
  while (!attempts.empty()) {
    QueueAttempt& attempt = *attempts.front();
    const Progress progress = advance(attempt);
    if (progress != Progress::kDone) return moved || progress == Progress::kSome;
    moved = true;
    if (&attempt != own) wake.push_back(attempt.waker_);
    finish(attempt);
  }
  return moved;
}

Queue::Progress Queue::advance(QueueAttempt& attempt) {
  try {
    switch (attempt.kind_) {
      case QueueAttempt::Kind::kEnqueue:
      case QueueAttempt::Kind::kEnqueueMany: return put_in(attempt);
      case QueueAttempt::Kind::kDequeue: return take_out(attempt);
      case QueueAttempt::Kind::kDequeueMany:
      case QueueAttempt::Kind::kDequeueUpTo: return take_many(attempt);
      case QueueAttempt::Kind::kClose: return close_now(attempt);
    }
  } catch (const Error& error) {  // no memory for a row: that is this attempt's error, whoever serves it
    return fail(attempt, error.code(), error.message());
  } catch (const std::bad_alloc&) {
    return fail(attempt, Code::kResourceExhausted, "no memory is left");
  }
  return Progress::kNone;
}

Queue::Progress Queue::put_in(QueueAttempt& attempt) {
  if (closed_) return fail(attempt, Code::kCancelled, cat(text(), " is closed."));
  if (!has_room()) return Progress::kNone;
  if (attempt.kind_ == QueueAttempt::Kind::kEnqueue) {
    order_->put(std::move(attempt.given_));
    return Progress::kDone;
  }
  for (; has_room() && attempt.next_ < attempt.rows_; ++attempt.next_) {
    QueueElement element;
    element.reserve(attempt.given_.size());
    for (const Tensor& batch : attempt.given_) element.push_back(row_of(batch, attempt.next_));
    order_->put(std::move(element));
  }
  return attempt.next_ == attempt.rows_ ? Progress::kDone : Progress::kSome;
}

std::int64_t Queue::available() const {
  return closed_ ? order_->size() : order_->size() - form_.min_after_dequeue;
}

Queue::Progress Queue::take_out(QueueAttempt& attempt) {
  if (available() > 0) {
    attempt.taken_.push_back(order_->take());
    return Progress::kDone;
  }
  return closed_ ? lack(attempt) : Progress::kNone;
}

Queue::Progress Queue::take_many(QueueAttempt& attempt) {
  const auto has = static_cast<std::int64_t>(attempt.taken_.size());
  if (closed_ && has + order_->size() < attempt.wanted_) {
    if (attempt.kind_ == QueueAttempt::Kind::kDequeueMany || has + order_->size() == 0) return lack(attempt);
    attempt.wanted_ = has + order_->size();
  }
  if (form_.whole_batches && available() < attempt.wanted_) return Progress::kNone;
  bool moved = false;
  while (available() > 0 && static_cast<std::int64_t>(attempt.taken_.size()) < attempt.wanted_) {
    attempt.taken_.push_back(order_->take());
    moved = true;
  }
  if (static_cast<std::int64_t>(attempt.taken_.size()) == attempt.wanted_) return Progress::kDone;
  return moved ? Progress::kSome : Progress::kNone;
}

Queue::Progress Queue::close_now(QueueAttempt& attempt) {
  if (std::exchange(closed_, true))
    return fail(attempt, Code::kCancelled, cat(text(), " is already closed."));
  return Progress::kDone;
}

Queue::Progress Queue::fail(QueueAttempt& attempt, Code code, std::string why) {
  attempt.failed_ = code;
  attempt.why_ = std::move(why);
  put_back(attempt);
  return Progress::kDone;
}

// What it had taken goes back first, and counts.
Queue::Progress Queue::lack(QueueAttempt& attempt) {
  put_back(attempt);
  return fail(attempt, Code::kOutOfRange,
              cat(text(), " is closed and has insufficient elements (requested ", attempt.wanted_,
                  ", current size ", order_->size(), ")"));
}

void Queue::put_back(QueueAttempt& attempt) {
  while (!attempt.taken_.empty()) {
    order_->put_back(std::move(attempt.taken_.back()));
    attempt.taken_.pop_back();
  }
}

// Out of its list; from here on it is its step's.
void Queue::finish(QueueAttempt& attempt) {
  (attempt.puts_in() ? putting_ : taking_).erase(attempt.place_);
  attempt.listed_ = false;
  attempt.done_.store(true, std::memory_order_release);
}

}  // namespace runnel
