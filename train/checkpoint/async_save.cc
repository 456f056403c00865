// One thread a save: starting it costs less than the shortest step, and none waits about between saves.
#include "train/checkpoint/async_save.h"

#include <utility>

#include "graph/error.h"
#include "graph/log.h"
#include "graph/thread_start.h"

namespace runnel {

AsyncSave::~AsyncSave() {
  try {
    wait();
  } catch (const std::exception& error) {
    log_error(cat(what_, " failed: ", error.what()));
  }
}

void AsyncSave::start(std::string what, std::function<void()> work) {
  what_ = std::move(what);
  thread_ = start_thread(what_, [this, work = std::move(work)]() mutable {
    try {
      work();
    } catch (...) {
      error_ = std::current_exception();
    }
    work = nullptr;  // lets go of the values
  });
}

void AsyncSave::wait() {
  join();
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void AsyncSave::join() {
  if (thread_.joinable()) thread_.join();
}

}  // namespace runnel
