// A thread with a name that others can wait for with a time limit, which std::thread cannot give. Its state
// is shared by its handles and by the thread itself, so that one which does not end in time can be left
// behind. It never dies of an exception, and can say what it does, for the one who waits for it in vain.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <string>

namespace runnel {

// A handle; copies are the same thread. All calls may be made from any thread. Handles may go while the
// thread runs; it then runs on by itself. An empty handle (default-made) has no name, is not alive and cannot
// be started.
class CoordinatedThread {
 public:
  CoordinatedThread() = default;
  // Not started yet. Without a body it gets one from start(body).
  explicit CoordinatedThread(std::string name, std::function<void()> body = {});

  // Throws FailedPrecondition if it was started before or has no body, ResourceExhausted if the machine gives
  // no thread (then it may be tried again). The body is destroyed when it ends, before the thread counts as
  // ended. What it throws is logged and kept for error().
  void start() const;
  void start(std::function<void()> body) const;

  const std::string& name() const;
  bool started() const;
  bool alive() const;                // started, and the body has not ended
  std::exception_ptr error() const;  // what the body threw; null if nothing
  std::string doing() const;         // what the thread says that it does; empty if it says nothing
  bool is_this_thread() const;       // true on the thread itself

  // Waits for the end; returns at once if it was never started. Throws FailedPrecondition on the thread
  // itself.
  void join() const;
  // Calls `call` once when the thread has ended, on that thread, where what it throws is logged; at once if
  // it has ended already.
  void on_end(std::function<void()> call) const;

  explicit operator bool() const { return state_ != nullptr; }
  bool operator==(const CoordinatedThread&) const = default;

  // The thread that runs this code; empty for one that was not started here.
  static CoordinatedThread current();

  struct State;

 private:
  explicit CoordinatedThread(std::shared_ptr<State> state) : state_(std::move(state)) {}
  State& state() const;  // throws FailedPrecondition if empty
  std::shared_ptr<State> state_;
};

// Says what the calling thread does while this object lives: "waits in enqueue of 'input_producer'". Does
// nothing on a thread that is no CoordinatedThread.
class [[nodiscard]] Doing {
 public:
  explicit Doing(std::string what);
  ~Doing();
  Doing(const Doing&) = delete;
  Doing& operator=(const Doing&) = delete;

 private:
  std::string before_;
};

}  // namespace runnel
