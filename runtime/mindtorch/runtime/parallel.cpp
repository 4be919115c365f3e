// The thread pool.
#include "mindtorch/runtime/parallel.h"

#include <cblas.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "mindtorch/base/error.h"

namespace mindtorch {

namespace {

constinit thread_local bool inside_parallel_region = false;

// Runs one job at a time. A counter hands out its parts, so that a slow thread takes fewer of them. Threads never end.
class Pool {
 public:
  Pool() : size_(std::max(1, static_cast<int>(std::thread::hardware_concurrency()))) { openblas_set_num_threads(size()); }

  int size() const { return size_.load(std::memory_order_relaxed); }
  void resize(int count) {
    std::lock_guard job(job_mutex_);
    size_.store(count, std::memory_order_relaxed);
    openblas_set_num_threads(count);
  }

  void run(std::int64_t begin, std::int64_t end, std::int64_t grain, const std::function<void(std::int64_t, std::int64_t)>& body) {
    std::unique_lock job(job_mutex_, std::try_to_lock);
    const std::int64_t parts = std::min<std::int64_t>(size(), (end - begin + grain - 1) / grain);
    if (!job.owns_lock() || inside_parallel_region || parts <= 1) return body(begin, end);
    {
      std::lock_guard lock(mutex_);
      begin_ = begin;
      end_ = end;
      step_ = (end - begin + parts - 1) / parts;
      body_ = &body;
      error_ = nullptr;
      next_part_.store(0, std::memory_order_relaxed);
      parts_ = static_cast<int>(parts);
      unfinished_ = static_cast<int>(parts);
      ++generation_;
      while (static_cast<int>(threads_) < parts - 1) start_thread();
    }
    wake_.notify_all();
    work();
    std::unique_lock lock(mutex_);
    finished_.wait(lock, [&] { return unfinished_ == 0 && working_ == 0; });
    body_ = nullptr;
    if (error_ != nullptr) std::rethrow_exception(error_);
  }

 private:
  void start_thread() {
    ++threads_;
    std::thread thread([this] { serve(); });
    pthread_setname_np(thread.native_handle(), "mindtorch_cpu");
    thread.detach();
  }

  void serve() {
    std::uint64_t seen = 0;
    while (true) {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return generation_ != seen && body_ != nullptr; });
      seen = generation_;
      ++working_;
      lock.unlock();
      work();
      lock.lock();
      --working_;
      finished_.notify_all();
    }
  }

  // Takes parts until all are taken.
  void work() {
    inside_parallel_region = true;
    while (true) {
      const int part = next_part_.fetch_add(1, std::memory_order_relaxed);
      if (part >= parts_) break;
      std::exception_ptr error;
      try {
        const std::int64_t from = begin_ + part * step_;
        (*body_)(from, std::min(end_, from + step_));
      } catch (...) {
        error = std::current_exception();
      }
      std::lock_guard lock(mutex_);
      if (error != nullptr && error_ == nullptr) error_ = error;
      if (--unfinished_ == 0) finished_.notify_all();
    }
    inside_parallel_region = false;
  }

  std::atomic<int> size_;
  std::mutex job_mutex_;  // held by the thread whose job is running
  std::mutex mutex_;      // guards the description of the job
  std::condition_variable wake_, finished_;
  std::uint64_t generation_ = 0;
  std::size_t threads_ = 0;
  std::int64_t begin_ = 0, end_ = 0, step_ = 0;
  const std::function<void(std::int64_t, std::int64_t)>* body_ = nullptr;
  std::exception_ptr error_;
  std::atomic<int> next_part_{0};
  int parts_ = 0;
  int unfinished_ = 0;
  int working_ = 0;  // threads of the pool inside work()
};

Pool& pool() {
  static auto* pool = new Pool();
  return *pool;
}

}  // namespace

int get_num_threads() { return pool().size(); }

void set_num_threads(int count) {
  if (count < 1) throw_error("runtime.set_num_threads", "expected positive number of threads, got {}", count);
  pool().resize(count);
}

void parallel_for_slow(std::int64_t begin, std::int64_t end, std::int64_t grain,
                       const std::function<void(std::int64_t, std::int64_t)>& body) {
  pool().run(begin, end, std::max<std::int64_t>(grain, 1), body);
}

}  // namespace mindtorch
