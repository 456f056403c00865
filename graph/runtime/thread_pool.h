// Threads of one session that share large kernels. Work is cut into fixed ranges by the caller; threads take
// ranges as they come, so the result never depends on how many there are.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace runnel {

// for_ranges may be called from many threads; each call uses idle threads and its caller.
class ThreadPool {
 public:
  explicit ThreadPool(int threads);  // besides the caller's
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // Calls body(begin, end) for consecutive ranges of `grain` covering [0, n); returns when all are done. The
  // first exception is rethrown here, after the ranges that had begun.
  void for_ranges(std::int64_t n, std::int64_t grain,
                  const std::function<void(std::int64_t, std::int64_t)>& body);

 private:
  struct Job;
  void work();
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<std::shared_ptr<Job>> jobs_;
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace runnel
