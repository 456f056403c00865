// One mutex guards the reason and the list of threads; a thread's end and a stop both ring its condition, so
// that nobody polls. Calls of on_stop are std::stop_callbacks: exactly-once, and gone when their handle is
// gone, is what these are for. No call into other code is made under the mutex.
#include "train/supervisor/coordinator.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <stop_token>

#include "graph/log.h"
#include "train/supervisor/carried_error.h"

namespace runnel {
namespace {

constexpr std::size_t kMaxNotes = 16;  // named in full; a thousand threads may fail for one cause

// A wait of NaN seconds would never end, which nobody asks for.
double checked(double seconds, const char* what) {
  if (!std::isnan(seconds)) return seconds;
  throw InvalidArgument(cat("Coordinator: ", what, " is NaN; give seconds, or infinity to wait without end"));
}

std::string thread_prefix() {
  const CoordinatedThread current = CoordinatedThread::current();
  return current ? cat("thread '", current.name(), "': ") : "";
}

bool any_alive(const std::vector<CoordinatedThread>& threads) {
  return std::any_of(threads.begin(), threads.end(), [](const CoordinatedThread& t) { return t.alive(); });
}

// "'saver' (waits for its next call), 'Thread-25' (does not say what it does)"
std::string described(const std::vector<CoordinatedThread>& threads) {
  std::string out;
  for (const CoordinatedThread& thread : threads) {
    const std::string doing = thread.doing();
    out += cat(out.empty() ? "'" : ", '", thread.name(), "' (",
               doing.empty() ? "does not say what it does" : doing, ")");
  }
  return out;
}

}  // namespace

struct Coordinator::State {
  bool stopped() const { return stop.load(std::memory_order_acquire); }
  // Returns a line for the log, or nothing. Requires: mutex is held, a stop was requested before.
  std::string keep_later(StopReason later);
  // Wakes all who wait.
  void ring() {
    { const std::lock_guard hold(mutex); }
    changed.notify_all();
  }
  std::string later_errors() const;  // "; later errors: ..." or nothing. Requires: mutex is held
  // Waits as join() does; what was registered then belongs to the caller.
  std::vector<CoordinatedThread> wait_and_take(double grace_secs);

  std::vector<Code> clean;
  Clock* clock;

  mutable std::mutex mutex;
  mutable std::condition_variable changed;
  std::atomic<bool> stop{false};      // written under the mutex
  std::atomic<std::uint64_t> run{0};  // counts what clear_stop made new; written under the mutex
  bool joined = false;
  StopReason reason;
  std::vector<std::string> notes;
  std::size_t notes_left_out = 0;
  std::stop_source calls;  // of on_stop; new after clear_stop
  std::vector<CoordinatedThread> threads;
  std::vector<CoordinatedThread> left;  // behind, by join()
};

std::string Coordinator::State::keep_later(StopReason later) {
  if (!later.error || later.cause != StopCause::kError || code_of(later.error) == Code::kCancelled) return "";
  std::string text = thread_prefix() + text_of(later.error);
  if (reason.cause == StopCause::kInputExhausted) {
    notes.push_back(reason.text);
    reason = std::move(later);
    return "Coordinator: an error after the end of input: " + text;
  }
  if (notes.size() < kMaxNotes) {
    notes.push_back(text);
  } else {
    ++notes_left_out;
  }
  return "Coordinator: an error after the stop: " + text;
}

std::string Coordinator::State::later_errors() const {
  std::string out;
  for (const std::string& note : notes) out += (out.empty() ? "; later errors: " : "; ") + note;
  if (notes_left_out > 0) out += cat("; and ", notes_left_out, " more");
  return out;
}

// --- calls on a stop

// The callback must not throw, or the program would end.
class OnStop::Registration {
 public:
  Registration(const std::stop_token& token, std::function<void()> call)
      : callback_(token, [call = std::move(call)] {
          try {
            call();
          } catch (...) {
            log_warning(cat("Coordinator: a call on stop failed: ", text_of(std::current_exception())));
          }
        }) {}

 private:
  std::stop_callback<std::function<void()>> callback_;
};

OnStop::OnStop(std::unique_ptr<Registration> registration) : registration_(std::move(registration)) {}
OnStop::OnStop() = default;
OnStop::OnStop(OnStop&&) noexcept = default;
OnStop& OnStop::operator=(OnStop&&) noexcept = default;
OnStop::~OnStop() = default;

OnStop Coordinator::on_stop(std::function<void()> call) {
  std::stop_source calls;
  {
    const std::lock_guard hold(state_->mutex);
    if (is_of_former_run()) {
      calls.request_stop();
    } else {
      calls = state_->calls;
    }
  }
  return OnStop(std::make_unique<OnStop::Registration>(calls.get_token(), std::move(call)));
}

// --- making and sharing

Coordinator::Coordinator(CoordinatorOptions options) : state_(std::make_shared<State>()) {
  state_->clean = std::move(options.clean_stop_exception_types);
  state_->clock = options.clock ? options.clock : &system_clock();
}

Coordinator::~Coordinator() {
  if (run_) return;
  try {
    std::unique_lock lock(state_->mutex);
    const bool alive = any_alive(state_->threads), joined = state_->joined;
    lock.unlock();
    if (alive) request_stop(StopReason{.cause = StopCause::kRequested, .text = "the coordinator has ended"});
    if (!joined || alive) join();
  } catch (...) {
    log_error(cat("Coordinator: ended without join(): ", text_of(std::current_exception())));
  }
  // Those that were never started have bodies that may share this coordinator.
  std::unique_lock lock(state_->mutex);
  const std::vector<CoordinatedThread> left = std::exchange(state_->threads, {});
  lock.unlock();
}

Coordinator::Coordinator(std::shared_ptr<State> state, std::uint64_t run)
    : state_(std::move(state)), run_(run) {}

std::shared_ptr<Coordinator> Coordinator::share() const {
  return std::shared_ptr<Coordinator>(new Coordinator(state_, run_ ? *run_ : state_->run.load()));
}

bool Coordinator::is_of_former_run() const { return run_ && *run_ != state_->run.load(); }

Clock& Coordinator::clock() const { return *state_->clock; }

// --- threads

CoordinatedThread Coordinator::start_thread(std::string name, std::function<void()> body) {
  CoordinatedThread thread(std::move(name),
                           [coord = share(), body = std::move(body)] { coord->stop_on_exception(body); });
  register_thread(thread);  // first, so that join() knows it from its first instruction on
  try {
    thread.start();
  } catch (...) {
    const std::lock_guard hold(state_->mutex);
    std::erase(state_->threads, thread);
    throw;
  }
  return thread;
}

void Coordinator::register_thread(CoordinatedThread thread) {
  if (!thread) throw InvalidArgument("Coordinator: an empty thread was registered; make it with a name");
  std::vector<CoordinatedThread> ended;  // let go outside the lock
  {
    const std::lock_guard hold(state_->mutex);
    std::vector<CoordinatedThread>& threads = state_->threads;
    if (std::find(threads.begin(), threads.end(), thread) != threads.end()) return;
    const auto first_ended = std::stable_partition(
        threads.begin(), threads.end(), [](const CoordinatedThread& t) { return !t.started() || t.alive(); });
    ended.assign(first_ended, threads.end());
    threads.erase(first_ended, threads.end());
    threads.push_back(thread);
  }
  thread.on_end([state = std::weak_ptr<State>(state_)] {
    if (const std::shared_ptr<State> still_there = state.lock()) still_there->ring();
  });
}

// --- stopping

void Coordinator::request_stop() {
  request_stop(StopReason{.cause = StopCause::kRequested, .text = thread_prefix() + "a stop was requested"});
}

void Coordinator::request_stop(std::exception_ptr error) {
  if (!error) return request_stop();
  const std::optional<Code> code = code_of(error);
  const bool clean = code && std::count(state_->clean.begin(), state_->clean.end(), *code) > 0;
  const std::string text = text_of(error);
  request_stop(StopReason{.cause = clean ? StopCause::kInputExhausted : StopCause::kError,
                          .text = clean ? "input exhausted: " + text : thread_prefix() + text,
                          .error = std::move(error)});
}

void Coordinator::request_stop(StopReason reason) {
  if (reason.cause == StopCause::kNone) reason.cause = StopCause::kRequested;
  std::unique_lock lock(state_->mutex);
  if (is_of_former_run()) {
    lock.unlock();
    if (reason.error && code_of(reason.error) != Code::kCancelled)
      log_warning(
          cat("Coordinator: an error of a thread of a run before: ", thread_prefix(), text_of(reason.error)));
    return;
  }
  if (state_->joined && reason.cause == StopCause::kError && reason.error) {
    lock.unlock();
    std::rethrow_exception(reason.error);  // nobody would learn of it
  }
  if (state_->stopped()) {
    const std::string line = state_->keep_later(std::move(reason));
    lock.unlock();
    if (!line.empty()) log_warning(line);
    return;
  }
  const std::string line = cat("Coordinator: stopping (", name_of(reason.cause), "): ", reason.text);
  state_->reason = std::move(reason);
  state_->stop.store(true, std::memory_order_release);
  std::stop_source calls = state_->calls;
  lock.unlock();
  state_->changed.notify_all();
  log_info(line);
  calls.request_stop();
}

// In this order: clear_stop() writes them in the other one.
bool Coordinator::should_stop() const { return state_->stopped() || is_of_former_run(); }

bool Coordinator::wait_for_stop(double timeout_secs) const {
  return wait_for_stop_until(state_->clock->deadline_in(checked(timeout_secs, "timeout_secs")));
}

bool Coordinator::wait_for_stop_until(std::int64_t deadline) const {
  std::unique_lock lock(state_->mutex);
  return state_->clock->wait_until(state_->changed, lock, deadline, [this] { return should_stop(); });
}

void Coordinator::clear_stop() {
  const std::lock_guard hold(state_->mutex);
  state_->joined = false;
  state_->reason = {};
  state_->notes.clear();
  state_->notes_left_out = 0;
  state_->left.clear();
  if (!state_->stopped()) return;
  state_->calls = std::stop_source();
  ++state_->run;
  state_->stop.store(false, std::memory_order_release);
}

StopReason Coordinator::stop_reason() const {
  const std::lock_guard hold(state_->mutex);
  return state_->reason;
}

std::vector<std::string> Coordinator::notes() const {
  const std::lock_guard hold(state_->mutex);
  return state_->notes;
}

// --- joining

std::vector<CoordinatedThread> Coordinator::State::wait_and_take(double grace_secs) {
  std::unique_lock lock(mutex);
  for (const CoordinatedThread& thread : threads)
    if (thread.is_this_thread())
      throw FailedPrecondition(
          cat("Coordinator: thread '", thread.name(), "' would wait for its own end in join()"));
  clock->wait_until(changed, lock, Clock::kForever, [this] { return stopped() || !any_alive(threads); });
  clock->wait_until(changed, lock, clock->deadline_in(grace_secs), [this] { return !any_alive(threads); });
  joined = true;
  return std::exchange(threads, {});
}

void Coordinator::join(JoinOptions options) {
  checked(options.stop_grace_period_secs, "stop_grace_period_secs");
  for (const CoordinatedThread& thread : options.threads) register_thread(thread);
  std::vector<CoordinatedThread> left;
  for (const CoordinatedThread& thread : state_->wait_and_take(options.stop_grace_period_secs)) {
    if (thread.alive()) {
      left.push_back(thread);
    } else {
      thread.join();  // at once: the body is over
    }
  }
  {
    const std::lock_guard hold(state_->mutex);
    state_->left.insert(state_->left.end(), left.begin(), left.end());
  }
  std::string stragglers;
  if (!left.empty())
    stragglers = cat("Coordinator: stopped with threads still running after ", options.stop_grace_period_secs,
                     " s: ", described(left));
  const bool fatal = options.strict && !options.ignore_live_threads && !left.empty();
  if (!left.empty() && !fatal) {
    options.ignore_live_threads ? log_info(stragglers) : log_warning(stragglers);
  }
  raise_requested_exception();
  if (fatal) throw DeadlineExceeded(stragglers);
}

void Coordinator::raise_requested_exception() const {
  std::unique_lock lock(state_->mutex);
  if (state_->reason.cause != StopCause::kError || !state_->reason.error) return;
  const std::exception_ptr error = state_->reason.error;
  const std::string more = state_->later_errors();
  lock.unlock();
  rethrow_with(error, more);
}

std::vector<CoordinatedThread> Coordinator::stragglers() const {
  const std::lock_guard hold(state_->mutex);
  std::erase_if(state_->left, [](const CoordinatedThread& thread) { return !thread.alive(); });
  return state_->left;
}

bool Coordinator::joined() const {
  const std::lock_guard hold(state_->mutex);
  return state_->joined;
}

}  // namespace runnel
