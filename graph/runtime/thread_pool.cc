// Jobs are handed out range by range from an atomic counter.
#include "graph/runtime/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>

namespace runnel {

struct ThreadPool::Job {
  std::int64_t n, grain;
  const std::function<void(std::int64_t, std::int64_t)>* body;
  std::atomic<std::int64_t> next{0};  // first element not handed out
  std::mutex mutex;
  std::condition_variable finished;
  int helpers = 0;  // threads inside run(), guarded by mutex
  std::exception_ptr error;

  void run() {
    for (;;) {
      const std::int64_t begin = next.fetch_add(grain);
      if (begin >= n) return;
      try {
        (*body)(begin, std::min(begin + grain, n));
      } catch (...) {
        std::lock_guard hold(mutex);
        if (!error) error = std::current_exception();
        next.store(n);
      }
    }
  }
};

ThreadPool::ThreadPool(int threads) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard hold(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ThreadPool::work() {
  std::unique_lock hold(mutex_);
  for (;;) {
    wake_.wait(hold, [&] { return stop_ || !jobs_.empty(); });
    if (stop_) return;
    const std::shared_ptr<Job> job = jobs_.back();
    if (job->next.load() >= job->n) {
      std::erase(jobs_, job);
      continue;
    }
    {
      std::lock_guard inner(job->mutex);
      ++job->helpers;
    }
    hold.unlock();
    job->run();
    {
      std::lock_guard inner(job->mutex);
      --job->helpers;
    }
    job->finished.notify_all();
    hold.lock();
    std::erase(jobs_, job);
  }
}

void ThreadPool::for_ranges(std::int64_t n, std::int64_t grain,
                            const std::function<void(std::int64_t, std::int64_t)>& body) {
  const auto job = std::make_shared<Job>();
  job->n = n;
  job->grain = grain;
  job->body = &body;
  {
    std::lock_guard hold(mutex_);
    jobs_.push_back(job);
  }
  wake_.notify_all();
  job->run();
  {
    std::lock_guard hold(mutex_);
    std::erase(jobs_, job);
  }
  std::unique_lock hold(job->mutex);
  job->finished.wait(hold, [&] { return job->helpers == 0; });
  if (job->error) std::rethrow_exception(job->error);
}

}  // namespace runnel
