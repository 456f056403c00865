// While an object of this lives the process can start no thread: each would need a stack larger than the
// address space (glibc).
#pragma once

#include <pthread.h>

#include <cstddef>

namespace runnel {

class NoThreads {
 public:
  NoThreads() {
    pthread_attr_t huge;
    pthread_attr_init(&huge);
    pthread_getattr_default_np(&before_);
    pthread_attr_setstacksize(&huge, std::size_t{1} << 60);
    pthread_setattr_default_np(&huge);
    pthread_attr_destroy(&huge);
  }
  ~NoThreads() {
    pthread_setattr_default_np(&before_);
    pthread_attr_destroy(&before_);
  }
  NoThreads(const NoThreads&) = delete;
  NoThreads& operator=(const NoThreads&) = delete;

 private:
  pthread_attr_t before_;
};

}  // namespace runnel
