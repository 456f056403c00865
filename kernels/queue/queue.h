// A queue of a session, as its ops and other kernels (a reader that takes file names) use it. What an op
// wants is an *attempt*: it is listed with the queue until it is done, in one list for what puts in and one
// for what takes out, each served in order. Whoever changes the queue serves both lists until nothing moves
// any more, and wakes the steps whose attempts are done. An attempt that nobody waits for any longer takes
// itself out of its list when it is dropped, and puts back what it had taken.
// Source: TensorFlow's queue ops (behaviours 6.1); the code is ours.
//
//   b.run([queue = b.resource<Queue>("queue_handle")](Context& c) -> bool {
//     if (!c.parked()) c.parked() = queue->dequeue(c.waker());
//     auto& attempt = static_cast<QueueAttempt&>(*c.parked());
//     if (!attempt.done()) return false;
//     const std::vector<Tensor> element = attempt.take();  // or throws
//     ...
//   });
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "graph/error.h"
#include "graph/kernel.h"
#include "kernels/queue/queue_order.h"

namespace runnel {

class Queue;

// One try to put in or take out, or to close. Used by one step; done() may be asked at any time. Keeps the
// queue.
class QueueAttempt final : public Parked {
 public:
  enum class Kind { kEnqueue, kEnqueueMany, kDequeue, kDequeueMany, kDequeueUpTo, kClose };

  QueueAttempt(std::shared_ptr<Queue> queue, Kind kind, std::shared_ptr<Waker> waker);
  ~QueueAttempt() override;
  QueueAttempt(const QueueAttempt&) = delete;
  QueueAttempt& operator=(const QueueAttempt&) = delete;

  bool done() const { return done_.load(std::memory_order_acquire); }
  // A tensor a component: what was dequeued, batches for many and up_to; nothing for the others. Throws what
  // the attempt ended with. Requires: done(). Once.
  std::vector<Tensor> take();
  std::string cancelled() const override;

 private:
  friend class Queue;
  bool puts_in() const;
  std::vector<Tensor> batch() const;  // of what was taken

  const std::shared_ptr<Queue> queue_;
  const Kind kind_;
  const std::shared_ptr<Waker> waker_;
  // The rest is guarded by the queue's lock until it is done.
  QueueElement given_;                // to be put in
  std::int64_t rows_ = 0, next_ = 0;  // of given_; the next to be put in
  std::int64_t wanted_ = 1;           // elements to be taken
  std::vector<QueueElement> taken_;
  Code failed_ = {};  // 0: it did not
  std::string why_;
  std::list<QueueAttempt*>::iterator place_;
  bool listed_ = false;
  std::atomic<bool> done_{false};
};

// What a queue was made with.
struct QueueForm {
  std::string kind;  // "FIFOQueue", for errors
  std::string name;
  std::int64_t capacity = -1;  // below 0: unbounded
  std::vector<DType> types;
  std::vector<Shape> shapes;           // none: any
  std::int64_t min_after_dequeue = 0;  // elements that stay while it is open
  bool whole_batches = false;          // nothing of a batch is taken before all of it is there
};

// Any thread may call.
class Queue final : public NodeState, public std::enable_shared_from_this<Queue> {
 public:
  static constexpr const char* kKind = "queue";
  Queue(QueueForm form, std::unique_ptr<QueueOrder> order);

  const QueueForm& form() const { return form_; }
  std::string text() const;  // "FIFOQueue 'fifo_queue'"
  // Throws InvalidArgument where another node made the queue of this name differently.
  void require_same(const QueueForm& other) const;

  // Each starts an attempt, which may be done at once. They throw InvalidArgument for what does not fit.
  std::shared_ptr<QueueAttempt> enqueue(QueueElement element, std::shared_ptr<Waker> waker);
  std::shared_ptr<QueueAttempt> enqueue_many(QueueElement batch, std::shared_ptr<Waker> waker);
  std::shared_ptr<QueueAttempt> dequeue(std::shared_ptr<Waker> waker);
  // `up_to`: fewer when the queue closes first.
  std::shared_ptr<QueueAttempt> dequeue_many(std::int64_t n, bool up_to, std::shared_ptr<Waker> waker);
  // Closes it when the enqueues that wait now have been served.
  std::shared_ptr<QueueAttempt> close(std::shared_ptr<Waker> waker);
  // Closes it now; enqueues that wait end with Cancelled. May be repeated.
  void close_and_cancel();

  std::int64_t size() const;
  bool is_closed() const;
  // Attempts that wait, of all kinds.
  std::size_t waiting() const;

 private:
  friend class QueueAttempt;
  enum class Progress { kNone, kSome, kDone };
  using Wakers = std::vector<std::shared_ptr<Waker>>;

  void require_element(const QueueElement& given, bool batch) const;
  void require_component(std::size_t k, const Tensor& tensor, bool batch) const;
  std::shared_ptr<QueueAttempt> make(QueueAttempt::Kind kind, std::shared_ptr<Waker> waker);
  std::shared_ptr<QueueAttempt> start(std::shared_ptr<QueueAttempt> attempt);
  void drop(QueueAttempt& attempt) noexcept;

  // Under the lock.
  void serve(Wakers& wake, const QueueAttempt* own);
  bool serve(std::list<QueueAttempt*>& attempts, Wakers& wake, const QueueAttempt* own);
  Progress advance(QueueAttempt& attempt);
  Progress put_in(QueueAttempt& attempt);
  Progress take_out(QueueAttempt& attempt);
  Progress take_many(QueueAttempt& attempt);
  Progress close_now(QueueAttempt& attempt);
  Progress fail(QueueAttempt& attempt, Code code, std::string why);
  Progress lack(QueueAttempt& attempt);
  void put_back(QueueAttempt& attempt);
  void finish(QueueAttempt& attempt);
  bool has_room() const { return form_.capacity < 0 || order_->size() < form_.capacity; }
  std::int64_t available() const;

  const QueueForm form_;
  mutable std::mutex mutex_;
  std::unique_ptr<QueueOrder> order_;
  std::list<QueueAttempt*> putting_, taking_;  // attempts that wait, in order
  bool closed_ = false;
};

}  // namespace runnel
