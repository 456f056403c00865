// A save on a thread of its own, while training goes on: what the thread is given holds the values of the
// moment (variables copy what somebody else holds before they write), and what goes wrong is told to whoever
// comes next.
#pragma once

#include <exception>
#include <functional>
#include <string>
#include <thread>

namespace runnel {

// One at a time, in the order in which they were started. For one caller at a time.
class AsyncSave {
 public:
  AsyncSave() = default;
  // Waits for the last one; an error that nobody has seen goes to the log.
  ~AsyncSave();
  AsyncSave(const AsyncSave&) = delete;
  AsyncSave& operator=(const AsyncSave&) = delete;

  // Requires: `wait` since the last one. `what` names it in the log. Throws ResourceExhausted, with nothing
  // begun, if there is no thread for it.
  void start(std::string what, std::function<void()> work);
  // Waits until the last one is done, and throws its error, once.
  void wait();
  // Waits alone; the error stays for `wait`.
  void join();

 private:
  std::thread thread_;
  std::string what_;
  std::exception_ptr error_;  // written by the thread, read after join
};

}  // namespace runnel
