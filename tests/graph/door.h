// What holds a thread of a test until the test lets it go.
#pragma once

#include <condition_variable>
#include <mutex>

namespace runnel {

// A door that is open until somebody shuts it.
class Door {
 public:
  void shut() { set(true); }
  void open() { set(false); }
  void pass() {
    std::unique_lock lock(mutex_);
    ++waiting_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return !shut_; });
    --waiting_;
  }
  // Returns when a thread stands before it.
  void await_waiting() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return waiting_ > 0; });
  }

 private:
  void set(bool shut) {
    const std::lock_guard hold(mutex_);
    shut_ = shut;
    changed_.notify_all();
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  bool shut_ = false;
  int waiting_ = 0;
};

}  // namespace runnel
