// Threads of one session, which share large kernels and independent chains of one step. Work is cut by the
// caller in a fixed way; threads take parts as they come, so the result never depends on how many there are.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace runnel {

// Both calls may come from many threads; each uses idle threads and its caller, and returns when all is done.
// A body of side_by_side may call for_ranges: whoever waits has begun work that goes on, so nobody waits for
// ever, and there are never more threads than the pool's and the callers.
class ThreadPool {
 public:
  // `threads` besides the caller's, or as many as the machine gives; that they are fewer goes to the log.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // Calls body(begin, end) for consecutive ranges of `grain` covering [0, n), on at most `threads` at once.
  // The first exception is rethrown here, after the ranges that had begun.
  void for_ranges(std::int64_t n, std::int64_t grain,
                  const std::function<void(std::int64_t, std::int64_t)>& body, int threads = kAll);
  // Calls body(0) to body(n - 1), at most `threads` at once. While the caller waits for the last of them, it
  // takes ranges of theirs. Requires: body does not throw.
  void side_by_side(int n, int threads, const std::function<void(int)>& body);

 private:
  static constexpr int kAll = 1 << 20;
  struct Job;
  bool start_one();
  void work();
  void run(const std::shared_ptr<Job>& job);
  std::shared_ptr<Job> next(bool ranges_only) const;
  void help(std::unique_lock<std::mutex>& hold, const std::shared_ptr<Job>& job);

  std::mutex mutex_;
  std::condition_variable wake_, finished_;
  std::vector<std::shared_ptr<Job>> jobs_;
  int helping_callers_ = 0;  // who wait in side_by_side and look for ranges
  bool stop_ = false;
  std::vector<std::thread> threads_;
  std::string refusal_;  // why there are no more
};

}  // namespace runnel
