// For tests: a look at the queue behind a handle, and waiting until so many attempts wait with it.
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <thread>
#include <typeinfo>

#include "graph/runtime/engine.h"
#include "graph/runtime/session.h"
#include "kernels/queue/queue.h"
#include "ops/queue_ops.h"
#include "tests/graph/thrown.h"
#include "tests/graph/until.h"

namespace runnel {

// Null until a step that uses the queue was prepared.
inline std::shared_ptr<Queue> queue_in(Session& session, const QueueBase& queue) {
  return std::static_pointer_cast<Queue>(
      session.engine()->resource_of({.maker = &queue.queue_ref().node(), .type = &typeid(Queue)}));
}

inline void await_waiting(Session& session, const QueueBase& queue, std::size_t attempts,
                          Location where = Location::here()) {
  until(
      [&] {
        const std::shared_ptr<Queue> found = queue_in(session, queue);
        return found && found->waiting() == attempts;
      },
      where);
}

// "OutOfRange: ..." of a run.
inline std::string refusal(Session& session, Fetch fetch, std::initializer_list<Feed> feeds = {}) {
  return error_of([&] { session.run(fetch, feeds); });
}

// Runs `fetch` on a thread of its own and keeps what came of it.
class OnThread {
 public:
  OnThread(Session& session, Fetch fetch, RunOptions options = {})
      : session_(session), thread_([this, &session, fetch, options] {
          try {
            value_ = session.run(fetch, {}, options);
          } catch (const Error& error) {
            failed_ = error.code();
            text_ = error.message();
          }
        }) {}
  ~OnThread() {
    if (thread_.joinable()) session_.stop_waiting("the test is over");  // it failed: nobody asked
  }
  const Tensor& value() { return join(), value_; }
  Code failed() { return join(), failed_; }  // Code{}: it did not
  const std::string& text() { return join(), text_; }

 private:
  void join() {
    if (thread_.joinable()) thread_.join();
  }
  Session& session_;
  Tensor value_;
  Code failed_{};
  std::string text_;
  std::jthread thread_;
};

}  // namespace runnel
