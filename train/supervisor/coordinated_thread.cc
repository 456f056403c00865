// The std::thread is joined by whoever waits first after the end, or by the last handle; the thread is
// detached only when it holds the last handle itself. Its state outlives both.
#include "train/supervisor/coordinated_thread.h"

#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "graph/error.h"
#include "graph/log.h"
#include "graph/thread_start.h"
#include "train/supervisor/carried_error.h"

namespace runnel {

struct CoordinatedThread::State {
  explicit State(std::string n, std::function<void()> b) : name(std::move(n)), body(std::move(b)) {}
  ~State() { finish(); }

  // Ends the std::thread's own life. Requires: it has ended, or this runs on it.
  void finish();
  void run(std::function<void()> work);
  void end();

  const std::string name;
  mutable std::mutex mutex;
  std::condition_variable changed;
  std::function<void()> body;  // until it starts
  std::thread thread;
  bool started = false, ended = false;
  std::exception_ptr error;
  std::string doing;
  std::vector<std::function<void()>> at_end;
};

namespace {

thread_local std::weak_ptr<CoordinatedThread::State> this_thread;

}  // namespace

void CoordinatedThread::State::finish() {
  std::thread taken;
  {
    const std::lock_guard hold(mutex);
    taken = std::move(thread);
  }
  if (!taken.joinable()) return;
  if (taken.get_id() == std::this_thread::get_id()) {
    taken.detach();
  } else {
    taken.join();
  }
}

void CoordinatedThread::State::run(std::function<void()> work) {
  try {
    work();
  } catch (...) {
    const std::lock_guard hold(mutex);
    error = std::current_exception();
  }
  if (error) log_error(cat("thread '", name, "' ended with an error: ", text_of(error)));
  work = nullptr;  // lets go of what it holds before anyone learns that it ended
  end();
}

void CoordinatedThread::State::end() {
  std::vector<std::function<void()>> calls;
  {
    const std::lock_guard hold(mutex);
    ended = true;
    calls.swap(at_end);
  }
  changed.notify_all();
  for (const std::function<void()>& call : calls) try {
      call();
    } catch (...) {
      log_error(cat("thread '", name, "': a call on its end failed: ", text_of(std::current_exception())));
    }
}

CoordinatedThread::CoordinatedThread(std::string name, std::function<void()> body)
    : state_(std::make_shared<State>(std::move(name), std::move(body))) {}

CoordinatedThread::State& CoordinatedThread::state() const {
  if (!state_) throw FailedPrecondition("CoordinatedThread: the handle is empty; make it with a name");
  return *state_;
}

void CoordinatedThread::start() const {
  State& s = state();
  const std::lock_guard hold(s.mutex);
  if (s.started) throw FailedPrecondition(cat("CoordinatedThread '", s.name, "': it was started before"));
  if (!s.body)
    throw FailedPrecondition(cat("CoordinatedThread '", s.name, "': it has no body; give start() one"));
  // The new thread waits for the lock, so it finds everything in place.
  s.thread = start_thread(cat("thread '", s.name, "'"), [state = state_] {
    std::function<void()> work;
    {
      const std::lock_guard wait(state->mutex);
      work = std::exchange(state->body, nullptr);
    }
    this_thread = state;
    state->run(std::move(work));
  });
  s.started = true;
}

void CoordinatedThread::start(std::function<void()> body) const {
  State& s = state();
  const auto exchange_body = [&s](std::function<void()> other) {
    const std::lock_guard hold(s.mutex);
    if (!s.started) s.body.swap(other);
    return other;
  };
  const std::function<void()> before = exchange_body(std::move(body));
  try {
    start();
  } catch (...) {
    exchange_body(before);  // what it holds may hold this thread
    throw;
  }
}

const std::string& CoordinatedThread::name() const {
  static const std::string kNoName;
  return state_ ? state_->name : kNoName;
}

bool CoordinatedThread::started() const {
  if (!state_) return false;
  const std::lock_guard hold(state_->mutex);
  return state_->started;
}

bool CoordinatedThread::alive() const {
  if (!state_) return false;
  const std::lock_guard hold(state_->mutex);
  return state_->started && !state_->ended;
}

std::exception_ptr CoordinatedThread::error() const {
  if (!state_) return nullptr;
  const std::lock_guard hold(state_->mutex);
  return state_->error;
}

std::string CoordinatedThread::doing() const {
  if (!state_) return "";
  const std::lock_guard hold(state_->mutex);
  return state_->doing;
}

bool CoordinatedThread::is_this_thread() const { return state_ && this_thread.lock() == state_; }

void CoordinatedThread::join() const {
  State& s = state();
  if (is_this_thread())
    throw FailedPrecondition(cat("CoordinatedThread '", s.name, "': a thread cannot wait for its own end"));
  {
    std::unique_lock lock(s.mutex);
    if (!s.started) return;
    s.changed.wait(lock, [&s] { return s.ended; });
  }
  s.finish();
}

void CoordinatedThread::on_end(std::function<void()> call) const {
  State& s = state();
  {
    const std::lock_guard hold(s.mutex);
    if (!s.ended) return s.at_end.push_back(std::move(call));
  }
  call();
}

CoordinatedThread CoordinatedThread::current() { return CoordinatedThread(this_thread.lock()); }

Doing::Doing(std::string what) {
  if (const std::shared_ptr<CoordinatedThread::State> state = this_thread.lock()) {
    const std::lock_guard hold(state->mutex);
    before_ = std::exchange(state->doing, std::move(what));
  }
}

Doing::~Doing() {
  if (const std::shared_ptr<CoordinatedThread::State> state = this_thread.lock()) {
    const std::lock_guard hold(state->mutex);
    state->doing = std::move(before_);
  }
}

}  // namespace runnel
