// Ends a group of threads together: each one asks whether it should stop, any one may ask all to stop, and
// one waits for all of them and learns why. The first reason counts; errors that came later are named in the
// text of the first, so that none is lost and none hides another. TensorFlow's tf.train.Coordinator
// (behaviours 7).
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graph/clock.h"
#include "graph/error.h"
#include "train/supervisor/coordinated_thread.h"
#include "train/supervisor/stop_reason.h"

namespace runnel {

struct CoordinatorOptions {
  // Errors with these codes ask for a stop, but are the normal end of the input and are not raised by join().
  std::vector<Code> clean_stop_exception_types = {Code::kOutOfRange};
  Clock* clock = nullptr;  // for all waiting; borrowed, outlives the threads. None: the machine's.
};

struct JoinOptions {
  std::vector<CoordinatedThread> threads = {};  // waited for, besides the registered ones
  double stop_grace_period_secs = 120;          // how long threads may take to end once a stop is requested
  bool ignore_live_threads = false;             // those that do not end in time are not worth a warning
  bool strict = false;                          // those that do not end in time are an error
};

// Keeps a call that a stop makes; the call is taken back when this object goes, and does not run any more
// after that (the destructor waits for one that is running on another thread). Movable.
class [[nodiscard]] OnStop {
 public:
  OnStop();
  class Registration;
  explicit OnStop(std::unique_ptr<Registration> registration);
  OnStop(OnStop&&) noexcept;
  OnStop& operator=(OnStop&&) noexcept;
  ~OnStop();

 private:
  std::unique_ptr<Registration> registration_;
};

// All calls may be made from any thread. A time that is NaN is InvalidArgument. What it knows is shared with
// its threads, so that one which does not end in time may outlive it. When it goes without join(), it
// requests a stop and waits for its threads as join() does; what join() would have raised is logged.
class Coordinator {
 public:
  explicit Coordinator(CoordinatorOptions options = {});
  ~Coordinator();
  Coordinator(const Coordinator&) = delete;
  Coordinator& operator=(const Coordinator&) = delete;

  // Another handle to the same coordinator, for a thread's body: it may outlive this one, and stops nothing
  // when it goes. After a stop and clear_stop() it still belongs to what was stopped: it says so, and what it
  // asks for or reports does not reach the next run, an error only the log.
  std::shared_ptr<Coordinator> share() const;

  // Starts a registered thread; what its body throws requests a stop. Throws ResourceExhausted.
  CoordinatedThread start_thread(std::string name, std::function<void()> body);
  // join() waits for `thread`, too. Requires: it is not empty. One that was not started is not waited for.
  void register_thread(CoordinatedThread thread);

  // The first reason is kept. Later errors are named in its text, but for Cancelled, which is what a stop
  // does to those who wait, and for clean ones. An error after an end of input becomes the reason; one after
  // any other normal stop is logged and kept as a note. After join() an error is thrown back to the
  // caller, since nobody else would learn of it.
  void request_stop();  // kRequested
  void request_stop(StopReason reason);
  void request_stop(std::exception_ptr error);  // clean types: kInputExhausted; else kError; null: kRequested

  bool should_stop() const;
  // Waits until a stop is requested; returns whether one is.
  bool wait_for_stop(double timeout_secs = std::numeric_limits<double>::infinity()) const;
  bool wait_for_stop_until(std::int64_t deadline) const;  // of the clock's steady time
  // Makes it new: no stop, no reason, not joined, no stragglers. Threads stay registered. Those that have
  // been asked to stop, and are not done with it, find their handles (share()) stopped for ever.
  void clear_stop();
  // kNone while no stop is requested.
  StopReason stop_reason() const;
  // Errors that came after the reason, one text each: "thread 'B': disk is full".
  std::vector<std::string> notes() const;

  // Runs `body`; what it throws requests a stop and goes no further. Returns false if it threw. After join()
  // errors are thrown on.
  template <class F>
  bool stop_on_exception(F&& body) {
    try {
      std::forward<F>(body)();
      return true;
    } catch (...) {
      request_stop(std::current_exception());
      return false;
    }
  }

  // Waits until all threads have ended or, once a stop is requested, the grace period is over. Requests no
  // stop by itself. Then throws the first error, as its own class, its text followed by "; later errors:
  // ...". Threads that still run are left behind with a warning that says what they do; with `strict` they
  // are DeadlineExceeded. Throws FailedPrecondition on a thread that it would wait for.
  void join(JoinOptions options = {});
  // Throws the first error as join() does, if there is one.
  void raise_requested_exception() const;
  bool joined() const;
  // The threads that join() left behind since clear_stop(), as far as they still run.
  std::vector<CoordinatedThread> stragglers() const;

  // Calls `call` once on the thread that requests a stop (here and now if one is requested), outside all
  // locks: it may call this coordinator. What it throws is logged.
  OnStop on_stop(std::function<void()> call);

  Clock& clock() const;

 private:
  struct State;
  Coordinator(std::shared_ptr<State> state, std::uint64_t run);
  bool is_of_former_run() const;

  std::shared_ptr<State> state_;
  std::optional<std::uint64_t> run_;  // that it was shared in; none: the one that was made first
};

}  // namespace runnel
