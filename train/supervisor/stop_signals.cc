// The handler does what a handler may: it notes the signal and posts a semaphore. A thread waits for that and
// asks the coordinators to stop.
#include "train/supervisor/stop_signals.h"

#include <semaphore.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

#include "graph/error.h"
#include "graph/thread_start.h"

namespace runnel {
namespace {

constexpr std::array kSignals{SIGTERM, SIGINT};

// What the handler sees.
std::atomic<int> received{0};  // the first signal
std::atomic<pid_t> owner{0};   // the process that installed the handlers, not one that it forked
sem_t arrived;
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<pid_t>::is_always_lock_free);

void handle(int signal) {
  const int error = errno;
  int none = 0;
  if (::getpid() != owner) {
    ::signal(signal, SIG_DFL);
    ::raise(signal);
  } else if (received.compare_exchange_strong(none, signal)) {
    ::sem_post(&arrived);
  } else {
    ::_exit(128 + signal);
  }
  errno = error;
}

const char* name_of_signal(int signal) { return signal == SIGTERM ? "SIGTERM" : "SIGINT"; }

void stop(Coordinator& coord, int signal) {
  coord.request_stop(StopReason{
      .cause = StopCause::kSignal, .text = cat("received ", name_of_signal(signal)), .signal = signal});
}

// The handlers that were there before, and the thread that waits for the handler's word.
class Watch {
 public:
  void add(Coordinator& coord) {
    const std::lock_guard turn(turns_);
    std::unique_lock hold(mutex_);
    if (coordinators_.empty()) install();
    coordinators_.push_back(&coord);
    hold.unlock();
    if (const int signal = received) stop(coord, signal);
  }

  void remove(Coordinator& coord) {
    const std::lock_guard turn(turns_);
    std::unique_lock hold(mutex_);
    coordinators_.erase(std::ranges::find(coordinators_, &coord));
    const bool last = coordinators_.empty();
    hold.unlock();
    if (last) uninstall();
  }

  std::size_t count() {
    const std::lock_guard hold(mutex_);
    return coordinators_.size();
  }

 private:
  void install() {
    received = 0;
    owner = ::getpid();
    told_ = ending_ = false;
    ::sem_init(&arrived, 0, 0);
    thread_ = start_thread("signals", [this] { wait(); });
    struct sigaction action = {};
    action.sa_handler = handle;
    ::sigemptyset(&action.sa_mask);
    action.sa_flags = SA_RESTART;
    for (std::size_t i = 0; i < kSignals.size(); ++i) {
      ::sigaction(kSignals[i], nullptr, &before_[i]);
      if (!is_ignored(before_[i])) ::sigaction(kSignals[i], &action, nullptr);
    }
  }

  // A signal that came too late for anyone to be told goes to the handlers that were there before.
  void uninstall() {
    for (std::size_t i = 0; i < kSignals.size(); ++i)
      if (!is_ignored(before_[i])) ::sigaction(kSignals[i], &before_[i], nullptr);
    ending_ = true;
    ::sem_post(&arrived);
    thread_.join();
    ::sem_destroy(&arrived);
    const int signal = received.exchange(0);
    if (signal != 0 && !told_) ::raise(signal);
  }

  static bool is_ignored(const struct sigaction& action) {
    return !(action.sa_flags & SA_SIGINFO) && action.sa_handler == SIG_IGN;
  }

  // The thread's body.
  void wait() {
    for (;;) {
      while (::sem_wait(&arrived) != 0) {
      }
      if (const int signal = received) tell_all(signal);
      if (ending_) return;
    }
  }

  // Outside the lock: what a coordinator calls on its stop may come back here.
  void tell_all(int signal) {
    std::vector<std::shared_ptr<Coordinator>> all;
    {
      const std::lock_guard hold(mutex_);
      for (const Coordinator* coord : coordinators_) all.push_back(coord->share());
    }
    for (const std::shared_ptr<Coordinator>& coord : all) {
      stop(*coord, signal);  // one that stops for another reason takes no notice
      if (coord->stop_reason().cause == StopCause::kSignal) told_ = true;
    }
  }

  std::mutex turns_;  // of those who come and go, held to the end of the thread
  std::mutex mutex_;  // guards the list
  std::vector<Coordinator*> coordinators_;
  std::array<struct sigaction, kSignals.size()> before_ = {};
  std::atomic<bool> told_{false}, ending_{false};
  std::thread thread_;
};

// Never destroyed: a handler or a straggler may still come when the process ends.
Watch& watch() {
  static Watch* const only = new Watch;
  return *only;
}

}  // namespace

StopSignals::StopSignals(Coordinator& coord) : coord_(coord) { watch().add(coord); }
StopSignals::~StopSignals() { watch().remove(coord_); }

bool signal_has_come() { return received != 0; }

bool is_signalled(const StopReason& reason) {
  return reason.cause == StopCause::kSignal || signal_has_come();
}

double grace_after(const StopReason& reason, double grace_secs) {
  constexpr double kAfterSignal = 5;
  return is_signalled(reason) ? std::min(grace_secs, kAfterSignal) : grace_secs;
}

void exit_if_signalled(const StopReason& reason) {
  if (!is_signalled(reason) || watch().count() > 1) return;
  std::exit(reason.cause == StopCause::kSignal ? reason.exit_code() : 128 + received);
}

}  // namespace runnel
