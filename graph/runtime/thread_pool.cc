// Jobs are handed out part by part from an atomic counter.
#include "graph/runtime/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <exception>

#include "graph/error.h"
#include "graph/log.h"
#include "graph/thread_start.h"

namespace runnel {

struct ThreadPool::Job {
  std::int64_t n, grain;
  const std::function<void(std::int64_t, std::int64_t)>* body;
  int most_helpers;
  bool nests;                         // its parts are long and may start jobs themselves
  std::atomic<std::int64_t> next{0};  // first element not handed out
  int helpers = 0;                    // threads inside run(), guarded by the pool's mutex
  std::mutex mutex;
  std::exception_ptr error;

  Job(std::int64_t n, std::int64_t grain, const std::function<void(std::int64_t, std::int64_t)>& body,
      int threads, bool nests)
      : n(n), grain(grain), body(&body), most_helpers(threads - 1), nests(nests) {}

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
  for (int i = 0; i < threads && start_one(); ++i) {
  }
  const int started = static_cast<int>(threads_.size());
  if (started < threads)
    log_warning(cat("a session goes on with ", started, " of ", threads,
                    " threads besides the caller's, more slowly and with the same results: ", refusal_));
}

bool ThreadPool::start_one() {
  try {
    threads_.emplace_back();
    threads_.back() = start_thread("a session", [this] { work(); });
    return true;
  } catch (const std::exception& error) {
    refusal_ = error.what();
    std::erase_if(threads_, [](const std::thread& thread) { return !thread.joinable(); });
    return false;
  }
}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard hold(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

// The newest job that has parts left and room for another thread, or null. Requires: the mutex is held.
std::shared_ptr<ThreadPool::Job> ThreadPool::next(bool ranges_only) const {
  for (auto at = jobs_.rbegin(); at != jobs_.rend(); ++at) {
    const Job& job = **at;
    if (job.next.load() < job.n && job.helpers < job.most_helpers && !(ranges_only && job.nests)) return *at;
  }
  return nullptr;
}

void ThreadPool::help(std::unique_lock<std::mutex>& hold, const std::shared_ptr<Job>& job) {
  ++job->helpers;
  hold.unlock();
  job->run();
  hold.lock();
  if (--job->helpers == 0) finished_.notify_all();
}

void ThreadPool::work() {
  std::unique_lock hold(mutex_);
  for (;;) {
    std::shared_ptr<Job> job;
    wake_.wait(hold, [&] { return stop_ || (job = next(false)); });
    if (stop_) return;
    help(hold, job);
  }
}

void ThreadPool::run(const std::shared_ptr<Job>& job) {
  bool others_wait = false;
  {
    std::lock_guard hold(mutex_);
    jobs_.push_back(job);
    others_wait = helping_callers_ > 0;
  }
  wake_.notify_all();
  if (others_wait) finished_.notify_all();
  job->run();
  std::unique_lock hold(mutex_);
  std::erase(jobs_, job);
  helping_callers_ += job->nests;
  while (job->helpers > 0) {
    const std::shared_ptr<Job> other = job->nests ? next(true) : nullptr;
    if (other) {
      help(hold, other);
    } else {
      finished_.wait(hold);
    }
  }
  helping_callers_ -= job->nests;
}

void ThreadPool::for_ranges(std::int64_t n, std::int64_t grain,
                            const std::function<void(std::int64_t, std::int64_t)>& body, int threads) {
  const auto job = std::make_shared<Job>(n, grain, body, threads, false);
  run(job);
  if (job->error) std::rethrow_exception(job->error);
}

void ThreadPool::side_by_side(int n, int threads, const std::function<void(int)>& body) {
  const std::function<void(std::int64_t, std::int64_t)> one = [&body](std::int64_t i, std::int64_t) {
    body(static_cast<int>(i));
  };
  run(std::make_shared<Job>(n, 1, one, threads, true));
}

}  // namespace runnel
